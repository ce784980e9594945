"""Variables and hash tables."""

from __future__ import annotations

from .checks import REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "ASSIGN_VARIABLE": PluginRow(google=REFUSED),
    "CALL_ONCE": PluginRow(google=REFUSED),
    "HASHTABLE": PluginRow(google=REFUSED),
    "HASHTABLE_FIND": PluginRow(google=REFUSED),
    "HASHTABLE_IMPORT": PluginRow(google=REFUSED),
    "HASHTABLE_SIZE": PluginRow(google=REFUSED),
    "READ_VARIABLE": PluginRow(google=REFUSED),
    "VAR_HANDLE": PluginRow(google=REFUSED),
}
