"""Texts as UTF-16 code units: what the protocol compares and cuts by."""

from __future__ import annotations


def sort_key(text: str) -> bytes:
    """A key that sorts texts by their UTF-16 code units, in which U+1F600 comes before U+FFFD."""
    return text.encode("utf-16-be", "surrogatepass")


def head(text: str, units: int) -> str:
    """The first code units of a text; a surrogate pair that is cut leaves its first half."""
    cut = text[:units].encode("utf-16-le", "surrogatepass")[: 2 * units]
    return cut.decode("utf-16-le", "surrogatepass")
