"""Bytes to lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_protocol.rows._lines import LineSplitter

PIECES = st.lists(
    st.sampled_from(
        [b"a", b"bc" * 9, b"\n", b"\n\n", b"\r\n", b"\xe2\x80\xa8", b"\xe2", b"\xff", b""]
    ),
    max_size=30,
)


def split(chunks: list[bytes], limit: int = 1000) -> tuple[list[bytes | None], bool, int]:
    splitter = LineSplitter(limit)
    lines: list[bytes | None] = []
    is_utf8 = True
    for chunk in chunks:
        given = splitter.feed(chunk)
        lines += given.lines
        is_utf8 = is_utf8 and given.is_utf8
    assert splitter.count == len(lines)
    return lines, is_utf8, splitter.finish()


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(PIECES)
def test_lines_do_not_depend_on_the_chunks(chunks: list[bytes]) -> None:
    data = b"".join(chunks)
    *complete, rest = data.split(b"\n")
    lines, sound, held = split(chunks)
    assert lines == complete
    assert held == len(rest)
    assert sound == all(map(is_utf8, complete))


@given(PIECES, st.integers(1, 12))
def test_longer_lines_are_passed_over(chunks: list[bytes], limit: int) -> None:
    *complete, _ = b"".join(chunks).split(b"\n")
    lines, _, _ = split(chunks, limit)
    assert lines == [line if len(line) <= limit else None for line in complete]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_nothing_but_a_line_feed_ends_a_line(separator: str) -> None:
    text = f'{{"a":"x{separator}y"}}'.encode()
    assert split([text + b"\n"]) == ([text], True, 0)


def test_a_line_beyond_the_limit_is_not_held() -> None:
    splitter = LineSplitter(1000)
    for _ in range(100):
        assert splitter.feed(b"x" * 100).lines == []
    assert splitter.is_overlong
    assert splitter.has_begun
    assert sum(map(len, splitter._held)) <= 1000
    assert splitter.feed(b"x\nnext\n").lines == [None, b"next"]
