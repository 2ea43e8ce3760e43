"""Ops about model requests: the body of a recorded one, and serializers by themselves."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from dsh_protocol.findings import ProtocolError, RefusedError, WireError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rebuild import request_body
from dsh_protocol.requests import request_at
from dsh_protocol.rows import open_log
from dsh_protocol.wire import RequestImage, serialize

from ._answers import Json, of_findings, refusal
from ._logs import log_bytes


class CaseAttachments:
    """The attachments that a case gives along, by id."""

    root = None

    def __init__(self, images: Mapping[str, Json]) -> None:
        self._images = images

    def image(self, reference: Mapping[str, Any]) -> RequestImage:
        """The image of this id, in the size that its reference says unless the case says otherwise."""
        given = self._images.get(reference["attachmentId"])
        if given is None:
            raise WireError("ATTACHMENT_NOT_FOUND", "the case does not give this attachment")
        known = {**reference, **given}
        data = base64.b64decode(given["base64"])
        return RequestImage(data, known["mediaType"], known["width"], known["height"])


def _attachments(given: Json) -> CaseAttachments | None:
    return CaseAttachments(given["attachments"]) if "attachments" in given else None


def request_rebuild(given: Json, _version: int) -> Json:
    """The exact body of one request of a log."""
    try:
        log = open_log(log_bytes(given))
        body = request_body(
            log,
            request_at(log, given["index"]),
            route=given.get("route"),
            attachments=_attachments(given),
        )
    except RefusedError as error:
        return of_findings(None, error.findings)
    except WireError as error:
        return _wire_refusal(error)
    except ProtocolError as error:
        return refusal(error)
    return {"ok": {"body": body}}


def wire_serialize(given: Json, _version: int) -> Json:
    """The exact body for the options of a request."""
    try:
        body = serialize(given["wire"], given["options"], given["route"], _attachments(given))
    except WireError as error:
        return _wire_refusal(error)
    return {"ok": {"body": dumps(body)}}


def _wire_refusal(error: WireError) -> Json:
    return {"refused": {"code": error.code, "path": error.path}}
