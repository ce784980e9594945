"""Variables and tables."""

from __future__ import annotations

from .checks import REFUSED, Row, Table

TABLE: Table = {
    "ASSIGN_VARIABLE": Row(google=REFUSED),
    "CALL_ONCE": Row(google=REFUSED),
    "HASHTABLE": Row(google=REFUSED),
    "HASHTABLE_FIND": Row(google=REFUSED),
    "HASHTABLE_IMPORT": Row(google=REFUSED),
    "HASHTABLE_SIZE": Row(google=REFUSED),
    "READ_VARIABLE": Row(google=REFUSED),
    "VAR_HANDLE": Row(google=REFUSED),
}
