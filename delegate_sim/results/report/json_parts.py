"""Write JSON in parts, in order to limit the memory for Python objects.

For example, ``json.dumps`` takes 1.4 GiB for the overview of 30,000 nodes. In parts, the same overview takes 0.5 GiB, the limit
in ``SECURITY.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_STEP = "  "
_ONE_LINE_EACH = frozenset({"nodes", "partition_list"})
"""Lists that are written with one item per line and without indentation.

Writing with indentation takes about ten times as long.
"""


def json_value(entry: Any) -> Iterator[str]:
    """Yield plain data as parts of JSON. Each part is converted when the caller requests it."""
    if isinstance(entry, dict):
        yield from json_object({key: _field(key, value) for key, value in entry.items()})
    elif isinstance(entry, list):
        yield from json_array(map(json_value, entry))
    else:
        yield json.dumps(entry)


def _field(key: str, value: Any) -> Iterator[str]:
    if key in _ONE_LINE_EACH and isinstance(value, list):
        return json_array([json.dumps(item)] for item in value)
    return json_value(value)


def json_array(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the parts of a JSON array, given the parts of each item."""
    return _bracketed("[]", (("", item) for item in items))


def json_object(fields: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the parts of a JSON object, given the parts of each value."""
    return _bracketed("{}", ((f"{json.dumps(key)}: ", value) for key, value in fields.items()))


def _bracketed(brackets: str, items: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    before = brackets[0]
    for head, parts in items:
        yield f"{before}\n{_STEP}{head}"
        for part in parts:
            yield part.replace("\n", f"\n{_STEP}")  # strings in JSON contain no line breaks
        before = ","
    yield brackets if before == brackets[0] else f"\n{brackets[1]}"
