"""Attachments of a request: where they are, what the model reads about them, how many fit.

A log names an attachment by an id and never by a path; only ids of the shipped store (`sha256:` and
64 lower-case hexadecimal digits) lead to a file, so that no log can choose what is read.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from dsh_protocol import jsonvalue
from dsh_protocol.findings import WireError

from ._texts import failure, text

Json = dict[str, Any]
Mode = Literal["files", "inline"]
Measure = Literal["declared", "raw", "base64"]
"""How long an image is: as its reference says, as the bytes that are sent, or as their base64."""

_ID = re.compile(r"sha256:([0-9a-f]{64})")
_EXTENSIONS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
}
_NOT_IN_A_NAME = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]')
_RESERVED_NAME = re.compile(r"(?:CON|PRN|AUX|NUL|COM[1-9]|LPT[1-9])\s*(?:\..*)?", re.IGNORECASE)
# What JavaScript's trim() removes and may stand in a name at all.
_BLANKS = " \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class RequestImage:
    """An image as it goes out: its bytes, their media type, and its size in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


class ImageBudgetError(WireError):
    """`IMAGE_OFFLOAD_REQUIRED`: the images of a request are above its budget.

    `offload_images` is the number of oldest images that a log has to mark as left out
    (`image/offload`) before the request can be made.
    """

    def __init__(self, cause: WireError, offload_images: int) -> None:
        super().__init__(cause.code, cause.message, fix=cause.fix, path=cause.path)
        self.offload_images = offload_images


class AttachmentStore(Protocol):
    """Where a serializer finds attachments (references: spec/session/common/attachments.json)."""

    @property
    def root(self) -> str | None:
        """The folder as the model is told about it; null when the model cannot reach it."""

    def image(self, reference: Mapping[str, Any]) -> RequestImage:
        """The image to send.

        Raises:
            WireError: `INVALID_ATTACHMENT_REF` or `ATTACHMENT_NOT_FOUND`.
        """


class DirectoryAttachments:
    """The store that ships with the runtime: `<root>/v1/objects/<first 2 digits>/<64 digits>`.

    Images go out as they are stored. The official runtime scales large ones down first; that is not
    reproduced, so that a request with an image above its limits is not byte exact.
    """

    def __init__(self, root: str | Path) -> None:
        # Absolute, because the model is told this path; not resolved, as the runtime does not either.
        self._root = Path(root).absolute()

    @property
    def root(self) -> str:
        """The folder itself, absolute. A route with `attachmentRoot` tells the model another one."""
        return str(self._root)

    def image(self, reference: Mapping[str, Any]) -> RequestImage:
        """The stored image.

        Raises:
            WireError: `INVALID_ATTACHMENT_REF` or `ATTACHMENT_NOT_FOUND`.
        """
        path = image_path(self.root, reference)
        if path is None:
            raise failure("attachment/invalid")
        try:
            data = Path(path).read_bytes()
        except OSError:
            raise failure("attachment/missing") from None
        return RequestImage(data, reference["mediaType"], reference["width"], reference["height"])


class Images:
    """The images of one request: mode, texts, bytes and budget, by its `Route`."""

    def __init__(self, route: Mapping[str, Any], store: AttachmentStore | None) -> None:
        self._route = route
        self._store = store
        self._root = route.get("attachmentRoot", store.root if store is not None else None)
        self._old_texts = route.get("formatVersion", 3) < 3
        self._file_ids: Mapping[str, str] = route.get("fileIds", {})
        self._loaded: dict[str, RequestImage] = {}
        self.mode: Mode = "inline"
        self.accepted = "image" in route.get("inputModalities", ())
        self.available = store is not None

    def load(self, reference: Mapping[str, Any]) -> RequestImage:
        """The image to send; read once for each request.

        Raises:
            WireError: the store does not have it.
        """
        if self._store is None:
            raise failure("attachment/missing")
        key = reference["attachmentId"]
        if key not in self._loaded:
            self._loaded[key] = self._store.image(reference)
        return self._loaded[key]

    def choose_mode(self, references: Sequence[Mapping[str, Any]]) -> None:
        """Decide how the images of the request travel: all in the same way.

        A runtime uploads first, and sends everything inline when one upload fails; without any
        image left there is nothing that could fail.
        """
        uploaded = all(self.file_id(reference) is not None for reference in references)
        default: Mode = "files" if uploaded else "inline"
        self.mode = self._route.get("imageMode", default) if references else "files"

    def file_id(self, reference: Mapping[str, Any]) -> str | None:
        """The id of the uploaded image (null: it was not uploaded)."""
        return self._file_ids.get(reference["attachmentId"])

    def handle(self, reference: Mapping[str, Any]) -> str:
        """The text before an image.

        Raises:
            WireError: the store does not have the image.
        """
        image = self.load(reference)
        size = {"width": image.width, "height": image.height}
        if self._old_texts:
            return text("image/handle-format-2", id=reference["attachmentId"], **size)
        access = self._access(reference) or text("image/handle-without-path")
        return text("image/handle", identity=_identity(reference), access=access, **size)

    def offloaded(self, reference: Mapping[str, Any]) -> str:
        """The text in place of an image that was left out."""
        if self._old_texts:
            return text("image/offloaded-format-2")
        access = self._access(reference) or text("image/offloaded-without-path")
        return text("image/offloaded", identity=_identity(reference), access=access)

    def file(self, reference: Mapping[str, Any]) -> str:
        """The text in place of a file."""
        path = file_path(self._root, reference)
        known = {
            "name": jsonvalue.dumps(reference["name"]),
            "bytes": reference["bytes"],
            "digest": digest(reference),
        }
        if path is None:
            return text("file/unreadable", **known)
        return text("file/readable", path=jsonvalue.dumps(path), **known)

    def overflow(self, references: Sequence[Mapping[str, Any]], measure: Measure) -> int:
        """How many of the oldest of these images, in request order, have to stay out.

        Raises:
            WireError: the store does not have an image (`declared` reads none).
        """
        inline = measure == "base64"
        limit = "maxInlineRequestImageBytes" if inline else "maxRequestFilesBytes"
        quantum = "inlineImageOffloadByteQuantum" if inline else "imageOffloadByteQuantum"
        return offload_count(
            [self.length(reference, measure) for reference in references],
            max_count=self._route.get("maxImagesPerRequest"),
            max_bytes=self._route.get(limit),
            count_quantum=self._route.get("imageOffloadCountQuantum", 1),
            byte_quantum=self._route.get(quantum, 1),
        )

    def length(self, reference: Mapping[str, Any], measure: Measure) -> int:
        """How long an image is.

        Raises:
            WireError: the store does not have it (`declared` reads none).
        """
        if measure == "declared":
            stored: int = reference["bytes"]
            most: int = self._route.get("imageMaxBytes", stored)
            return min(stored, most)
        size = len(self.load(reference).data)
        return 4 * -(-size // 3) if measure == "base64" else size

    def _access(self, reference: Mapping[str, Any]) -> str | None:
        path = image_path(self._root, reference)
        if path is None:
            return None
        return text(
            "image/access",
            path=jsonvalue.dumps(path),
            width=reference["width"],
            height=reference["height"],
            media_type=reference["mediaType"],
            extension=_EXTENSIONS.get(reference["mediaType"], ""),
        )


def base64_data(image: RequestImage) -> str:
    """The bytes of an image in base64."""
    return base64.b64encode(image.data).decode("ascii")


def digest(reference: Mapping[str, Any]) -> str:
    """The first 8 digits of an attachment's SHA-256, as texts show them."""
    shown: str = reference["attachmentId"][7:15]
    return shown


def image_path(root: str | None, reference: Mapping[str, Any]) -> str | None:
    """Where the store at `root` keeps an image; null for an id that is not the store's."""
    match = _ID.fullmatch(reference["attachmentId"])
    if root is None or match is None:
        return None
    return f"{root}/v1/objects/{match[1][:2]}/{match[1]}"


def file_path(root: str | None, reference: Mapping[str, Any]) -> str | None:
    """Where the store at `root` keeps a file; null for an id or a name that is not the store's."""
    match = _ID.fullmatch(reference["attachmentId"])
    name = reference["name"]
    if root is None or match is None or not _is_portable(name):
        return None
    return f"{root}/v1/files/{match[1][:2]}/{match[1]}/{name}"


def offload_count(
    lengths: Sequence[int],
    *,
    max_count: int | None,
    max_bytes: int | None,
    count_quantum: int,
    byte_quantum: int,
) -> int:
    """How many of the first entries have to go, so that the rest is within both limits.

    The excess is rounded up to a multiple of its quantum, so that the next requests do not each
    lose one more image and with it their cached prefix. A limit that is null does not exist.
    """
    excess_count = 0 if max_count is None else max(0, len(lengths) - max_count)
    excess_bytes = 0 if max_bytes is None else max(0, sum(lengths) - max_bytes)
    if not excess_count and not excess_bytes:
        return 0
    want_count = -(-excess_count // count_quantum) * count_quantum
    want_bytes = -(-excess_bytes // byte_quantum) * byte_quantum
    # A whole quantum is exceeded, a quantum of one byte is only reached.
    least = want_bytes if byte_quantum == 1 or not want_bytes else want_bytes + 1
    dropped = 0
    for count, length in enumerate(lengths):
        if count >= want_count and dropped >= least:
            return count
        dropped += length
    return len(lengths)


def _identity(reference: Mapping[str, Any]) -> str:
    key: str = reference["attachmentId"]
    if "name" not in reference:
        return key
    return f"{jsonvalue.dumps(reference['name'])} ({key})"


def _is_portable(name: str) -> bool:
    if not name or name != name.strip(_BLANKS) or name.endswith("."):
        return False
    if _NOT_IN_A_NAME.search(name) or _RESERVED_NAME.fullmatch(name):
        return False
    return len(name.encode("utf-8")) <= _LONGEST_NAME
