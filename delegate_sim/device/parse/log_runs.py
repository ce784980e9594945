"""Split a log into runs, and select one run. There is one run for each model that the application loads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

from ...foundation.work_budget import spend_steps
from .delegate_identity import delegate_named
from .known_lines import Statement
from .log_contents import DeviceLog, LogError, Replacement
from .tables import ERRORS, Event, kinds_with

_BEFORE = kinds_with("is_before")
_OF_PROCESS = kinds_with("is_of_process")
_OF_START = kinds_with("is_of_start")
_PLACE = attrgetter("place")
_Items = TypeVar("_Items", list[Any], tuple[int, ...])


def separate_runs(logs: Sequence[DeviceLog], subgraphs: int = 1) -> tuple[DeviceLog, ...]:
    """Split each log that has too many lines about replaced nodes for one run of a model with ``subgraphs`` subgraphs.

    In each run, a delegate prints at most one such line per subgraph. If there are more lines without a subgraph, they belong
    to other runs. A run begins with the lines that its delegate printed before the line about replaced nodes, and ends where
    the next run begins.
    """
    return tuple(part for log in logs for part in _parts(log, max(subgraphs, 1)))


def chosen_run(logs: Sequence[DeviceLog], number: int | None) -> DeviceLog:
    """Return a run by its number, counted from 1, or the last run. Raises LogError if there is no such run."""
    if number is None:
        return logs[-1]
    if not 1 <= number <= len(logs):
        raise LogError(f"the log has {len(logs)} {'run' if len(logs) == 1 else 'runs'}, so there is no run {number}")
    return logs[number - 1]


def run_note(count: int, number: int | None) -> str:
    """Return a note that names the selected run, or "" if the log has only one run."""
    if count < 2:
        return ""
    chosen = f"run {number}" if number is not None else "the last one"
    return f"the log has lines of {count} runs or models; {chosen} is used (--run N selects another)"


def beginning(log: DeviceLog, replacement: Replacement) -> int:
    """Return the number of the first line in the run of a replacement."""
    ends = [other.place for other in _within(log.replacements, 0, replacement.place, _PLACE)[-1:]]
    for statement in log.statements_of(*ERRORS, Event.RESTORED):
        ends += _within(statement.places, 0, replacement.place)[-1:]
    first = max(ends, default=0) + 1
    delegate = delegate_named(replacement.kernel)
    own = list(log.statements_of(*_BEFORE))
    if delegate is not None:
        own += [made for made in log.statements_of(Event.CREATED) if delegate_named(made.values["name"]) is delegate]
    starts = [place for statement in own for place in _within(statement.places, first, replacement.place)[:1]]
    return min(starts, default=replacement.place)


def split_at(log: DeviceLog, place: int) -> tuple[DeviceLog, DeviceLog]:
    """Split a log before a line. Lines of the process go to both parts, data without a line to the second."""
    spend_steps(len(log.statements), "reading the log")
    start = min([place, *[replacement.place for replacement in log.replacements[:1]]])
    names = ("tensorflow_version", "is_old", "edge_tpu", "chips")
    before, after = DeviceLog(**{name: getattr(log, name) for name in names}), replace(log)
    for part, first, end, shared in ((before, 0, place, 0), (after, place, None, start)):
        part.replacements = _within(log.replacements, first, end, _PLACE)
        part.applications = _within(log.applications, first, end, _PLACE)
        part.statements = tuple(_between(log, first, end, shared))
    return before, after


def _parts(log: DeviceLog, subgraphs: int) -> list[DeviceLog]:
    groups: list[list[Replacement]] = [[]]
    parts = []
    for replacement in log.replacements:
        spend_steps(len(groups[-1]) // 8 + 1, "reading the log")
        same = [other for other in groups[-1] if other.kernel == replacement.kernel and other.subgraph is None]
        if replacement.subgraph is None and len(same) >= subgraphs:
            groups.append([])
            part, log = split_at(log, beginning(log, replacement))
            parts.append(part)
        groups[-1].append(replacement)
    return [*parts, log]


def _between(log: DeviceLog, first: int, end: int | None, start: int) -> Iterator[Statement]:
    """Yield the statements in a range of lines, with those that hold for the process or, before ``start``, for all runs."""
    for statement in log.statements:
        places = _within(statement.places, first, end)
        is_shared = statement.kind in _OF_PROCESS or (statement.kind in _OF_START and bool(_within(statement.places, 0, start)))
        if places and len(places) < len(statement.places):
            yield replace(statement, places=places, times=len(places))
        elif places or is_shared:
            yield statement


def _within(items: _Items, first: int, end: int | None, place: Callable[[Any], int] = int) -> _Items:
    """Return the items in a range of lines. The items are in the order of their lines; ``place`` returns the line of an item."""
    start = bisect_left(items, first, key=place)
    return items[start : None if end is None else bisect_left(items, end, start, key=place)]
