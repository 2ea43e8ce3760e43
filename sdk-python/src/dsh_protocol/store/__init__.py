"""Sessions on disk: write them so that the released runtime opens them, read them while they grow, list them.

`Store` is a root directory, `LogReader` follows one log, `list_sessions` looks at headers, `salvage` takes the valid
beginning of a damaged log. Error codes are in `CODES`.
"""

from ._cursor import Cursor
from ._details import SessionDetails, details_of
from ._errors import CODES, StoreError
from ._handles import Handle, Reader, Writer
from ._listing import Listing, StoredSession, list_sessions
from ._position import Position
from ._reader import Batch, LogReader
from ._salvage import LeftOut, Salvage, salvage
from ._store import Store

__all__ = [
    "CODES",
    "Batch",
    "Cursor",
    "Handle",
    "LeftOut",
    "Listing",
    "LogReader",
    "Position",
    "Reader",
    "Salvage",
    "SessionDetails",
    "Store",
    "StoreError",
    "StoredSession",
    "Writer",
    "details_of",
    "list_sessions",
    "salvage",
]
