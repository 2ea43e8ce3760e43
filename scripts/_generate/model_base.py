"""The base of every generated model (written by hand and copied here by `scripts/generate`)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """What all models of the protocol share.

    A dump uses the names of the wire (`surfaceOp`), attributes use Python's (`surface_op`); both
    are taken when a model is built, and `Model.model_validate(value, by_name=False)` takes those of
    the wire alone. Nothing is converted: `"3"` and `3.0` are no integers. A member that is absent
    is `MISSING` (`pydantic.MISSING`), which is not `None`, and stays absent
    in a dump.
    """

    model_config = ConfigDict(serialize_by_alias=True, strict=True, defer_build=True)
