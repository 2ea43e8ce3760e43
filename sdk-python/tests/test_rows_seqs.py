"""Range encoding. `data/released_names_and_ranges.json` has what the released runtime answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_protocol.findings import StorageError
from dsh_protocol.rows import decode_seqs, encode_seqs

RELEASED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "released_names_and_ranges.json").read_text("ascii")
)


@pytest.mark.parametrize(("seqs", "encoded"), RELEASED["encoded"], ids=str)
def test_encodes_as_released(seqs: list[int], encoded: list[Any]) -> None:
    assert encode_seqs(seqs) == encoded


@pytest.mark.parametrize(("encoded", "own_seq", "seqs"), RELEASED["decoded"], ids=str)
def test_decodes_as_released(encoded: list[Any], own_seq: int, seqs: list[int] | None) -> None:
    # The released decoder of ranges takes any plain list of counts; what reads its result refuses
    # an event named twice and one that is not earlier. Here both are one step. (1.0 is read as 1.)
    encoded = [
        int(member) if member == 1.0 and member is not True else member for member in encoded
    ]
    plain = seqs is not None and not any(isinstance(member, list) for member in encoded)
    if seqs is None or (plain and (len(set(seqs)) < len(seqs) or max(seqs, default=-1) >= own_seq)):
        with pytest.raises(StorageError) as caught:
            decode_seqs(encoded, own_seq)
        assert caught.value.code == "envelope/source-seqs-encoding"
    else:
        assert decode_seqs(encoded, own_seq) == seqs


@given(st.lists(st.integers(0, 60), unique=True, max_size=40))
def test_decoding_undoes_encoding(seqs: list[int]) -> None:
    assert decode_seqs(encode_seqs(seqs), 61) == seqs


@given(st.lists(st.integers(0, 60), unique=True, max_size=40).map(sorted))
def test_no_run_of_three_stays_plain(seqs: list[int]) -> None:
    encoded = encode_seqs(seqs)
    plain = [member for member in encoded if isinstance(member, int)]
    assert not any({n, n + 1, n + 2} <= set(plain) for n in plain)
    assert all(m[1] - m[0] >= 2 for m in encoded if isinstance(m, list))
