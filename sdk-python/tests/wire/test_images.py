"""Attachments: where they are, and how many fit. Expected: what the official library gives."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from wire_builders import IMAGE_ID, image

from dsh_protocol.findings import WireError
from dsh_protocol.wire import DirectoryAttachments
from dsh_protocol.wire._images import file_path, image_path, offload_count

DIGITS = IMAGE_ID[7:]


@pytest.mark.parametrize(
    "id_",
    [
        "sha256:zz",
        "../x",
        "sha256:" + "AB" * 32,
        "sha256:" + "ab" * 33,
        IMAGE_ID + "\n",
        "sha256:../../../../../../etc/passwd" + "0" * 32,
        "file:1",
        "",
    ],
)
def test_only_ids_of_the_store_lead_anywhere(id_: str, tmp_path: Path) -> None:
    reference = image(id_)["attachment"]
    assert image_path("/r", reference) is None
    assert file_path("/r", {"attachmentId": id_, "name": "a"}) is None
    with pytest.raises(WireError) as caught:
        DirectoryAttachments(tmp_path).image(reference)
    assert caught.value.code == "INVALID_ATTACHMENT_REF"


def test_paths_in_the_store() -> None:
    assert image_path("/r", image()["attachment"]) == f"/r/v1/objects/ab/{DIGITS}"
    assert image_path(None, image()["attachment"]) is None
    named = {"attachmentId": IMAGE_ID, "name": "a b.txt"}
    assert file_path("/r", named) == f"/r/v1/files/ab/{DIGITS}/a b.txt"
    assert file_path(None, named) is None


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("é", True),
        (".x", True),
        ("..x", True),
        ("~", True),
        ("a  b", True),
        ("x\x85", True),
        ("CONx", True),
        ("COM0", True),
        ("CONIN$", True),
        ("x" * 255, True),
        ("é" * 127, True),
        ("", False),
        (".", False),
        ("..", False),
        ("../x", False),
        ("a/b", False),
        ("a\\b", False),
        ("/etc/passwd", False),
        ("a\0b", False),
        ("a\nb", False),
        ("x\x7fy", False),
        ("a:b", False),
        ('a"b', False),
        ("CON", False),
        ("con.txt", False),
        ("CON .txt", False),
        ("LPT9.x.y", False),
        ("a.", False),
        (" a", False),
        ("a\u3000", False),
        ("\ufeffa", False),
        ("a\ud800", False),
        ("x" * 256, False),
        ("é" * 128, False),
    ],
)
def test_names_of_files(name: str, stored: bool) -> None:
    found = file_path("/r", {"attachmentId": IMAGE_ID, "name": name})
    assert found == (f"/r/v1/files/ab/{DIGITS}/{name}" if stored else None)


def test_directory(tmp_path: Path) -> None:
    data = b"not really a picture"
    id_ = "sha256:" + hashlib.sha256(data).hexdigest()
    folder = tmp_path / "v1" / "objects" / id_[7:9]
    folder.mkdir(parents=True)
    (folder / id_[7:]).write_bytes(data)
    store = DirectoryAttachments(tmp_path)
    assert store.root == str(tmp_path)
    found = store.image(image(id_, mediaType="image/gif")["attachment"])
    assert (found.data, found.media_type, found.width, found.height) == (data, "image/gif", 2, 3)
    with pytest.raises(WireError) as caught:
        store.image(image()["attachment"])
    assert caught.value.code == "ATTACHMENT_NOT_FOUND"


@pytest.mark.parametrize(
    ("lengths", "max_count", "max_bytes", "quanta", "gone"),
    [
        ([], 1, 1, (1, 1), 0),
        ([5, 5], None, None, (1, 1), 0),
        ([5, 5], 2, 10, (1, 1), 0),
        ([1] * 601, 600, None, (20, 1), 20),
        ([1] * 621, 600, None, (20, 1), 40),
        ([1] * 5, 2, None, (4, 1), 4),
        ([1] * 5, 1, None, (7, 1), 5),
        # A quantum of one byte has to be reached, a larger one to be exceeded.
        ([5, 5, 5], None, 10, (1, 1), 1),
        ([5, 5, 5], None, 10, (1, 5), 2),
        ([5, 5, 5], None, 11, (1, 3), 2),
        ([5, 0, 0, 5], None, 5, (1, 1), 1),
        ([0, 5, 5], 2, 5, (1, 1), 2),
        ([9], None, 5, (1, 100), 1),
    ],
)
def test_offload_count(
    lengths: list[int],
    max_count: int | None,
    max_bytes: int | None,
    quanta: tuple[int, int],
    gone: int,
) -> None:
    found = offload_count(
        lengths,
        max_count=max_count,
        max_bytes=max_bytes,
        count_quantum=quanta[0],
        byte_quantum=quanta[1],
    )
    assert found == gone
