"""Split a log into runs, and select one run. There is one run for each model that the application loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...foundation.work_budget import spend_steps
from .delegate_identity import delegate_named
from .kinds import ERRORS, Event, kinds_with
from .known_lines import Statement
from .log_contents import DeviceLog, LogError, Replacement

_BEFORE = kinds_with("is_before")
_OF_PROCESS = kinds_with("is_of_process")
_OF_START = kinds_with("is_of_start")


def separate_runs(logs: Sequence[DeviceLog], subgraphs: int = 1) -> tuple[DeviceLog, ...]:
    """Split each log that has too many lines about replaced nodes for one run of a model with ``subgraphs`` subgraphs.

    In each run, a delegate prints at most one such line per subgraph. If there are more lines without a subgraph, they belong
    to other runs. A run begins with the lines that its delegate printed before the line about replaced nodes, and ends where
    the next run begins.
    """
    return tuple(part for log in logs for part in _parts(log, max(subgraphs, 1)))


def chosen_run(logs: Sequence[DeviceLog], number: int | None) -> DeviceLog:
    """Return a run by its number, counted from 1. If ``number`` is None, return the last run.

    Raises LogError if there is no such run.
    """
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
    ends = [other.place for other in log.replacements]
    ends += [place for statement in log.statements_of(*ERRORS, Event.RESTORED) for place in statement.places]
    end = max([place for place in ends if place < replacement.place], default=0)
    delegate = delegate_named(replacement.kernel)
    own = [
        place
        for statement in log.statements_of(*_BEFORE, Event.CREATED)
        if statement.kind != Event.CREATED or delegate_named(statement.values["name"]) is delegate is not None
        for place in statement.places
    ]
    return min([place for place in own if end < place < replacement.place], default=replacement.place)


def split_at(log: DeviceLog, place: int) -> tuple[DeviceLog, DeviceLog]:
    """Split a log before a line.

    Both parts keep the lines that a process prints only once. Data without a line number, such as parameters, goes to the
    second part.
    """
    start = min([place, *[replacement.place for replacement in log.replacements]])
    names = ("tensorflow_version", "is_old", "edge_tpu", "chips")
    before, after = DeviceLog(**{name: getattr(log, name) for name in names}), replace(log)
    for part, is_own, shared in ((before, place.__gt__, 0), (after, place.__le__, start)):
        part.replacements = [item for item in log.replacements if is_own(item.place)]
        part.applications = [item for item in log.applications if is_own(item.place)]
        part.statements = tuple(_own_statements(log, is_own, shared))
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


def _own_statements(log: DeviceLog, is_own: Callable[[int], bool], start: int) -> Iterator[Statement]:
    """Yield the statements of a run, which consists of the lines for which ``is_own`` holds.

    Statements that a process prints only once belong to all its runs, and statements of kinds that hold for all runs also belong
    to the run if they are before line ``start``.
    """
    for statement in log.statements:
        places = tuple(filter(is_own, statement.places))
        is_before = statement.kind in _OF_START and any(place < start for place in statement.places)
        if places and len(places) < len(statement.places):
            yield replace(statement, places=places, times=len(places))
        elif places or is_before or statement.kind in _OF_PROCESS:
            yield statement
