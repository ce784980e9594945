"""The summary of the last op profile of each model and target, in a file beside the baseline.

With this file, ``check`` shows the time of nodes that fell back.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from ..errors import LimitError
from ..foundation.columns import schema_of
from ..foundation.files import alone_with, naming_file, read_whole, write_whole
from ..foundation.parsing import json_text
from ..foundation.printable import printable
from ..foundation.work_budget import work_budget
from ..model.model import Model
from ..results.report.findings import Finding
from ..runtime.target import Target
from ..timing.matching import OpProfiles
from ..timing.measured import KERNEL, NODE, Timing
from .baseline import EntryKey
from .baseline_content import BaselineError

_LARGEST_FILE = 16 << 20
_MOST_PRICES = 5


@dataclass(frozen=True, slots=True)
class Sum:
    """The number of nodes or kernels, and their total time in one inference."""

    count: int
    ms: float


@dataclass(frozen=True, slots=True)
class TimesEntry:
    """The summary of one profile: the CPU nodes by operator, and the kernels by delegate."""

    date: str
    operators: Mapping[str, Sum]
    kernels: Mapping[str, Sum]


@work_budget()
def read_times(path: str) -> dict[EntryKey, TimesEntry]:
    """Read the file; a missing file has no entries. Raises BaselineError with the file's name and the problem."""
    try:
        content = json_text.loads(read_whole(path, _LARGEST_FILE).decode("utf-8"), "reading measured times")
        if content["schema"] != schema_of("times"):
            raise BaselineError(printable(f"{path}: is not a file of measured times: its schema is not {schema_of('times')}"))
        return {EntryKey(str(entry["model"]), str(entry["target"])): _entry(entry) for entry in content["entries"]}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BaselineError(printable(f"{path}: {error.strerror or error}")) from error
    except LimitError as error:
        raise BaselineError(printable(f"{path}: {error}")) from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise BaselineError(printable(f"{path}: is not a file of measured times")) from error


def _entry(entry: Mapping[str, Any]) -> TimesEntry:
    sums = [
        {str(name): Sum(int(one["count"]), float(one["ms"])) for name, one in entry[part].items()}
        for part in ("operators", "kernels")
    ]
    return TimesEntry(str(entry["date"]), *sums)


def write_times(path: str, key: EntryKey, entry: TimesEntry) -> None:
    """Write one entry, and keep all other entries. Raises BaselineError if the file cannot be read or written."""
    with naming_file(path, BaselineError), alone_with(path):
        entries = {**read_times(path), key: entry}
        rows = [{"model": own.model, "target": own.target, **asdict(one)} for own, one in sorted(entries.items())]
        write_whole(path, json.dumps({"schema": schema_of("times"), "entries": rows}, indent=1) + "\n", is_updated=True)


def summarized(paths: Sequence[str], model: Model, target: Target) -> TimesEntry:
    """Return the summary of a model's op profiles.

    The time of an operator comes from the first profile that has this operator.
    """
    operators: dict[str, Sum] = {}
    kernels: dict[str, Sum] = {}
    for timing in OpProfiles(tuple(paths)).timings(model, [target]):
        operators = {**_sums(timing, NODE), **operators}
        kernels = {**_sums(timing, KERNEL), **kernels}
    day = max([datetime.fromtimestamp(os.path.getmtime(path), timezone.utc).date() for path in paths])
    return TimesEntry(day.isoformat(), operators, kernels)


def _sums(timing: Timing, kind: str) -> dict[str, Sum]:
    return {group.op: Sum(group.count, round(group.ms, 6)) for group in timing.groups if group.kind == kind}


def prices(findings: Sequence[Finding], entry: TimesEntry) -> Iterator[str]:
    """Yield the measured time of the operators of the nodes in ``findings``, longest time first."""
    nodes = {
        (place.subgraph, place.node): place.op for place in [finding.location for finding in findings] if place.node is not None
    }
    counts = Counter([op for op in nodes.values() if op in entry.operators])
    average_ms = {op: entry.operators[op].ms / max(entry.operators[op].count, 1) for op in counts}
    for op, count in sorted(counts.items(), key=lambda item: -item[1] * average_ms[item[0]])[:_MOST_PRICES]:
        yield f"{count:,} more {op} on the CPU; {op} took {average_ms[op]:,.3f} ms per node in the profile of {entry.date}"
