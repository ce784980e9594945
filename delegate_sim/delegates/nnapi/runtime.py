"""Android's NNAPI runtime behind the delegate: which one is simulated, and the wording of its refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from ...graph.graph import Graph
from ...nnapi_runtime.builder import ModelBuilder
from ...nnapi_runtime.refusal import Call, NnRefusal
from ...nnapi_runtime.types import API_LEVELS, MAX_FEATURE_LEVEL, AndroidRelease
from ...nnapi_runtime.types import feature_level as level_of
from ..base import KernelFailure, OptionValues
from .calls import RefusedCall
from .kinds import PREFIX
from .mapping import MappedPartition

NO_RUNTIME = "none"
"""The delegate alone: every call to NNAPI succeeds."""
RUNTIMES = (NO_RUNTIME, *[str(int(release)) for release in AndroidRelease])
NEWEST_RUNTIME = RUNTIMES[-1]

_FURTHER_SHOWN = 10


def runtime_name(value: Any) -> str:
    """Parse the name of a runtime: an Android release, or that there is none."""
    name = NO_RUNTIME if value is None else str(value).strip().lower()
    if isinstance(value, bool) or name not in RUNTIMES:
        raise ValueError(f"takes one of {', '.join(RUNTIMES)}, not {value!r}")
    return name


def android_of(options: OptionValues) -> AndroidRelease | None:
    """Return the release whose runtime stands behind the delegate; None if only the delegate is looked at."""
    name = options["nnapi_runtime"]
    return None if name == NO_RUNTIME else AndroidRelease(int(name))


def runtime_level(options: OptionValues) -> int:
    """Return the feature level of the runtime, no higher than that of the Android release that it came with."""
    level: int = options["feature_level"]
    android = android_of(options)
    return level if android is None else min(level, highest_level(android))


def highest_level(android: AndroidRelease) -> int:
    """Return the feature level of the runtime that an Android release came with, as NNAPI numbers it."""
    return API_LEVELS[MAX_FEATURE_LEVEL[android]]


ModelMaker: TypeAlias = Callable[[Callable[[NnRefusal], None]], ModelBuilder]
"""Makes an NNAPI model that hands its refusals on."""


def model_maker(options: OptionValues) -> ModelMaker | None:
    """Return what makes an NNAPI model that notes its refusals; None without a runtime."""
    android = android_of(options)
    if android is None:
        return None
    level = level_of(runtime_level(options))
    return lambda note: ModelBuilder(android, level, note)


def notes(options: OptionValues) -> Iterator[str]:
    """Say what is known of a runtime less surely than by running it."""
    match android_of(options):
        case AndroidRelease.ANDROID_10 | AndroidRelease.ANDROID_11 as android:
            known = f"Android {int(android)}'s NNAPI runtime: how it validates operations was found by running it"
            yield f"{known}; how it finishes and splits models is read from its sources"
        case AndroidRelease.ANDROID_12:
            yield "Android 12's NNAPI runtime: its rules are read from its sources, not run"


def runtime_failure(
    graph: Graph, mapped: MappedPartition, others: Sequence[MappedPartition], options: OptionValues
) -> KernelFailure | None:
    """Tell the first call that the runtime refuses of a partition, and in short those behind it, also of other partitions."""
    if not mapped.calls:
        return None
    found = [call for each in (mapped, *others) for call in _first_of_each_node(each.calls)]
    return told(graph, found[0], mapped, options, _further(found[1:]))


def told(
    graph: Graph, call: RefusedCall, mapped: MappedPartition, options: OptionValues, further: tuple[str, ...] = ()
) -> KernelFailure:
    """Tell a refused call as what fails the kernel."""
    from ..stage_behind import StageRefusal  # most models meet no refusal
    from .advice import change_for, refused_operand

    violation = call.refusal.violation
    operand, tensor = refused_operand(call, graph, mapped)
    what = f"{call.operation}: " if call.operation else ""
    is_compiled = call.refusal.call is Call.FINISH_COMPILATION
    does = "cannot compile the partition" if is_compiled else f"refuses {call.call}"
    message = (
        f"the NNAPI runtime of Android {options['nnapi_runtime']} {does}: {what}{operand}: found {violation.found}, "
        f"needed {violation.needed}"
    )
    is_of_node = call.refusal.call not in (Call.IDENTIFY, Call.FINISH_MODEL, Call.FINISH_COMPILATION)
    stage = StageRefusal(
        call.call, call.operation, violation.subject, violation.found, violation.needed, call.error_line, further, is_of_node
    )
    index = None if tensor is None else tensor.index
    return KernelFailure(call.node, index, PREFIX + call.refusal.code, message, change_for(call), stage=stage)


def _first_of_each_node(refused: Sequence[RefusedCall]) -> list[RefusedCall]:
    """What else is refused of a node may only follow from the first."""
    first: dict[int, RefusedCall] = {}
    for call in refused:
        first.setdefault(call.node, call)
    return list(first.values())


def _further(calls: Sequence[RefusedCall]) -> tuple[str, ...]:
    """Name what is refused behind the first call: alike refusals together, with their nodes."""
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for call in calls:
        violation = call.refusal.violation
        key = (call.operation or call.call, violation.subject, violation.found, violation.needed)
        groups.setdefault(key, []).append(call.node)
    lines = [
        f"behind the first refusal the NNAPI runtime would refuse {operation} at {_nodes(nodes)}: {subject}: found {is_found}, "
        f"needed {needed}"
        for (operation, subject, is_found, needed), nodes in groups.items()
    ]
    hidden = len(lines) - _FURTHER_SHOWN
    more = (f"behind the first refusal the NNAPI runtime would refuse {hidden} further kinds of calls",) if hidden > 0 else ()
    return (*lines[:_FURTHER_SHOWN], *more)


def _nodes(indices: Sequence[int]) -> str:
    shown = ", ".join(map(str, indices[:_FURTHER_SHOWN]))
    more = f" and {len(indices) - _FURTHER_SHOWN:,} more" if len(indices) > _FURTHER_SHOWN else ""
    return f"node {shown}" if len(indices) == 1 else f"{len(indices):,} nodes ({shown}{more})"
