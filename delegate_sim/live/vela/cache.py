"""Cache of Vela's decisions. A key consists of the digest of the model file, the version of Vela, and Vela's arguments."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence

from ...foundation.files import alone_with, cache_folder, read_whole, write_whole
from ...version import __version__
from ..engine import LiveDecision, LivePlacement

_FORMAT = 2


def find_decision(key: Sequence[str]) -> LiveDecision | None:
    """Return the cached decision of a key, or None if there is no readable cached decision."""
    try:
        entry = json.loads(read_whole(_path(key)))
        if entry["key"] != _full(key):
            return None
        return LiveDecision(
            bool(entry["failed"]),
            str(entry["end"]),
            tuple(map(str, entry["lines"])),
            placements=tuple([_placement(*fields) for fields in entry["nodes"]]),
            figures=dict(entry["figures"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_decision(key: Sequence[str], decision: LiveDecision) -> None:
    """Store a decision. If the folder is not writable, do nothing."""
    nodes = [[*node.to_dict().values()] for node in decision.placements or ()]
    entry = {
        "key": _full(key),
        "failed": decision.has_failed,
        "end": decision.end,
        "lines": decision.lines,
        "nodes": nodes,
        "figures": dict(decision.figures),
    }
    path = _path(key)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with alone_with(path):
            write_whole(path, json.dumps(entry), is_updated=True)
    except OSError:
        return


def _placement(subgraph: int, node: int, op: str, place: str, reason: str, is_listed: bool, kernel: int | None) -> LivePlacement:
    number = None if kernel is None else int(kernel)
    return LivePlacement(int(subgraph), int(node), str(op), str(place), str(reason), bool(is_listed), number)


def _full(key: Sequence[str]) -> list[str]:
    return [str(_FORMAT), __version__, *key]


def _path(key: Sequence[str]) -> str:
    name = hashlib.sha256(json.dumps(_full(key)).encode()).hexdigest()
    return os.path.join(cache_folder("vela"), f"{name}.json")
