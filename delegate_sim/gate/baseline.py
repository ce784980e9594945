"""The committed baseline: the accepted result of each model on each target.

The baseline is a JSON file. It has one line for each pair of model and target, and one line for the outline of each model. Later
checks use the outlines to find changed nodes. Commas have their own lines, so that Git can merge changes to different entries.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..errors import LimitError
from ..foundation.columns import schema_of
from ..foundation.files import alone_with, naming_file, read_whole, write_whole
from ..foundation.parsing import json_text
from ..foundation.printable import printable
from ..foundation.work_budget import work_budget
from .baseline_content import Baseline, BaselineError, Entry, EntryKey, Fallback, Unexpected, baseline_of, packed, ranges

__all__ = ["Baseline", "Entry", "EntryKey", "Fallback", "read_baseline", "update_baseline"]

_LARGEST_FILE = 256 << 20
_READING = "reading the baseline"
_MERGE_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)|^={7}$", re.MULTILINE)


@work_budget()
def read_baseline(path: str) -> Baseline:
    """Read a baseline. A missing file is an empty baseline. Raises BaselineError if the file is invalid or cannot be read."""
    try:
        text = read_whole(path, _LARGEST_FILE).decode("utf-8")
    except FileNotFoundError:
        return Baseline()
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(printable(f"{path}: {getattr(error, 'strerror', None) or 'is not UTF-8 text'}")) from error
    try:
        content = json_text.loads(text, _READING)
    except LimitError as error:
        raise BaselineError(printable(f"{path}: {error}")) from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits also raises ValueError
        raise BaselineError(printable(f"{path}: {_fault(path, text, error)}")) from error
    try:
        return baseline_of(content, path)
    except LimitError as error:
        raise BaselineError(printable(f"{path}: {error}")) from error
    except Unexpected as error:
        raise BaselineError(printable(f"{path}: is not a baseline: {error}")) from error


def update_baseline(path: str, changed: Mapping[EntryKey, Entry], removed: Iterable[EntryKey] = ()) -> bool:
    """Write the entries ``changed``, and remove the entries ``removed``. Return whether the baseline file changed.

    Concurrent updates wait for each other. The file is replaced atomically. Raises BaselineError if the file cannot be read or
    written.
    """
    with naming_file(path, BaselineError), alone_with(path):
        before, dropped = read_baseline(path), set(removed)
        entries = {key: entry for key, entry in before.entries.items() if key not in dropped} | dict(changed)
        text = baseline_text(Baseline(entries, before.packed))
        if before.entries and before.packed and text == baseline_text(before):
            return False
        write_whole(path, text, is_updated=True)
        return True


def baseline_text(baseline: Baseline) -> str:
    """Return the text of a baseline file."""
    entries = sorted(baseline.entries.items())
    models = {entry.sha256: entry for _, entry in entries}
    schema = _compact(schema_of("baseline"))
    lines = [f'{{"schema": {schema}, "entries": [']
    lines += _separated([_compact(_entry_data(key, entry)) for key, entry in entries])
    lines.append('], "models": [')
    lines += _separated(
        # Packed outlines are written unchanged, because another build of zlib may compress them differently.
        [_compact([sha256, baseline.packed.get(sha256) or packed(entry.subgraphs)]) for sha256, entry in models.items()]
    )
    return "".join([f"{line}\n" for line in [*lines, "]}"]])


def _separated(lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number:
            yield ","
        yield line


def _entry_data(key: EntryKey, entry: Entry) -> Mapping[str, Any]:
    return {
        "model": key.model,
        "target": key.target,
        **{key: value for key, value in asdict(entry.measures).items() if value is not None},
        **({} if entry.compute is None else entry.compute._asdict()),
        "fallback": [[group.subgraph, group.code, ranges(group.nodes)] for group in entry.fallback],
        "delegate": entry.delegate,
        "options": dict(entry.options),
        "runtime": entry.runtime,
        "defaults": entry.defaults,
        "rule_set": entry.rule_set,
        "tool": entry.tool,
        "sha256": entry.sha256,
    }


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _fault(path: str, text: str, error: Exception) -> str:
    """Return the reason why a baseline is not JSON. If the baseline has a merge conflict, the reason includes instructions."""
    marker = _MERGE_MARKER.search(text)
    if marker is not None:
        line = text.count("\n", 0, marker.start()) + 1
        return (
            f"contains merge conflict markers (line {line}): choose one side with git checkout --theirs -- {shlex.quote(path)} "
            "or with --ours, then run delegate-sim check --update"
        )
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: line {error.lineno}: {error.msg}"
    where = "nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
    return f"is not JSON: {where}"
