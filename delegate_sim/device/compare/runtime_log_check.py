"""Compare the log of the runtime behind a delegate with the simulated partitions."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...delegates.driver import StageOperation
from ...foundation.printable import counted
from ...runtime.interpreter import Run
from ..parse.compilations import RuntimeCompilation, RuntimeLog
from ..parse.log_contents import DeviceLog
from .row_matching import OTHER_MODEL

_Steps: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
_OperationCounts: TypeAlias = frozenset[tuple[str, int]]


MatchedPartition: TypeAlias = tuple[tuple[StageOperation, ...], RuntimeCompilation | None]
"""The operations of a simulated partition, and its compilation on the device, or None if the log shows no such compilation."""


def matched_partitions(log: RuntimeLog, run: Run) -> tuple[MatchedPartition, ...]:
    """Match each simulated partition with a compilation by the runtime that has the same operations in the same order."""
    left: dict[tuple[str, ...], deque[RuntimeCompilation]] = {}
    for compilation in log.compilations:
        if compilation.choices:
            left.setdefault(tuple([choice.op for choice in compilation.choices]), deque()).append(compilation)
    partitions = []
    for _, operations in stage_operations(run):
        same = left.get(tuple([one.name for one in operations]))
        partitions.append((operations, same.popleft() if same else None))
    return tuple(partitions)


def stage_operations(run: Run) -> Iterator[tuple[int, tuple[StageOperation, ...]]]:
    """Yield each delegated partition as its subgraph index and its operations, in the order of compilation."""
    interface = run.delegate.behind.devices
    for subgraph in run.subgraphs:
        if interface is not None and subgraph.decision is not None:
            for operations in interface.operations(subgraph.decision, subgraph.subsets):
                yield subgraph.graph.index, operations


def stage_notes(log: DeviceLog, run: Run) -> Iterator[str]:
    """Yield notes that compare the operations that the runtime compiled with the simulated operations."""
    compilations = [compilation for compilation in log.runtime.compilations if compilation.choices]
    if not compilations or run.delegate.behind.devices is None:
        return
    matched = matched_partitions(log.runtime, run)
    same = sum([compilation is not None for _, compilation in matched])
    if same == len(matched) == len(compilations):
        yield f"the runtime compiled the simulated operations in the same order ({counted(same, 'model')})"
        return
    yield (
        f"the runtime compiled {counted(len(compilations), 'model')}, and the simulation has "
        f"{counted(len(matched), 'partition')}; {same} have the same operations in the same order"
    )
    short = [one for one in compilations if one.operation_count is not None and not one.is_complete]
    for compilation in short:
        count = len(compilation.choices)
        yield f"the runtime compiled {compilation.operation_count} operations, but the log lists only {count} of them"
    if not short:
        device, ours = _operators(log.runtime.compilations), _names(run)
        other = sorted(name for name in {*device, *ours} if device[name] != ours[name])
        doubts = tuple(other_operations(log.runtime, run))
        if doubts:
            yield from doubts
        elif other:
            text = ", ".join([f"{name} {device[name]} and {ours[name]}" for name in other])
            yield f"the counts of compiled operations differ (device and simulation): {text}"


def other_operations(log: RuntimeLog, run: Run) -> Iterator[str]:
    """Yield a note if most operations that the runtime compiled are not in the simulation."""
    compilations = [compilation for compilation in log.compilations if compilation.choices]
    if run.delegate.behind.devices is None or any(
        compilation.operation_count is not None and not compilation.is_complete for compilation in compilations
    ):
        return
    device = _operators(log.compilations)
    if (device & _names(run)).total() < device.total() / 2:
        yield f"the runtime compiled operations that this model does not have; {OTHER_MODEL}"


def split_differences(log: DeviceLog, run: Run) -> Iterator[str]:
    """Yield the differences between the steps on the device and in the simulation. Nothing without a device profile."""
    interface = run.delegate.behind.devices
    if interface is None or run.options.get(interface.option) is None:
        return
    shown = [device_steps(compilation) for compilation in log.runtime.compilations if compilation.choices]
    theirs = [steps for steps in shown if steps is not None]
    ours: dict[_OperationCounts, Counter[_Steps]] = {}
    decided = [(subgraph.decision, subgraph.subsets) for subgraph in run.subgraphs if subgraph.decision is not None]
    for decision, subsets in decided:
        for split in run.delegate.behind.split(decision, subsets, run.options, run.release):
            own = tuple([(step.device, tuple([name for _, name in step.operations])) for step in split.steps])
            ours.setdefault(_operation_counts(own), Counter())[own] += 1
    for steps in theirs:
        left = ours.get(_operation_counts(steps), Counter())
        if steps in left:
            left[steps] -= 1
            if not left[steps]:
                del left[steps]
            continue
        simulated = f"they are {_steps_text(next(iter(left)))}" if left else "no partition has these operations"
        yield f"the runtime's steps on the device are {_steps_text(steps)}, but in the simulation {simulated}"


def device_steps(compilation: RuntimeCompilation) -> _Steps | None:
    """Return the steps, or None if some are missing, or if the runtime ran its own CPU code instead."""
    names = compilation.names
    if compilation.fell_back:
        return None
    steps = []
    for step in compilation.steps:
        if any(place >= len(compilation.choices) for place in step.operations):
            return None
        steps.append((names.get(step.number, ""), tuple([compilation.choices[place].op for place in step.operations])))
    listed = sum([len(operations) for _, operations in steps])
    return tuple(steps) if steps and listed == len(compilation.choices) else None


def compilation_text(compilation: RuntimeCompilation) -> str:
    """Return a text about a compilation: operations, steps, operations that each device rejects, failures and fallback."""
    count = compilation.operation_count if compilation.operation_count is not None else len(compilation.choices)
    steps = device_steps(compilation)
    words = [counted(count, "operation")] if count or compilation.operation_count is not None else []
    if not compilation.is_complete and compilation.operation_count is not None:
        words.append(f"the log lists {len(compilation.choices)} of them")
    if steps is not None:
        words.append(f"{counted(len(steps), 'step')}: {_steps_text(steps)}")
    refused: dict[str, Counter[str]] = {}
    for choice in compilation.choices:
        for device in choice.refused_by:
            refused.setdefault(device, Counter())[choice.op] += 1
    for device, operators in refused.items():
        words.append(f"{device} does not accept {', '.join([f'{number} {op}' for op, number in operators.items()])}")
    words += [f"{failure.device or 'a device'} failed to compile ({failure.why})" for failure in compilation.failures]
    words += [f"no device accepts {compilation.undone}"] if compilation.undone else []
    words += ["the runtime's CPU took over the whole model"] if compilation.fell_back else []
    return "; ".join(words)


def _operation_counts(steps: _Steps) -> _OperationCounts:
    return frozenset(Counter(name for _, names in steps for name in names).items())


def _steps_text(steps: _Steps) -> str:
    return "; ".join([f"{counted(len(names), 'operation')} on {device}" for device, names in steps]) or "none"


def _operators(compilations: Sequence[RuntimeCompilation]) -> Counter[str]:
    return Counter(choice.op for compilation in compilations for choice in compilation.choices)


def _names(run: Run) -> Counter[str]:
    return Counter(one.name for _, operations in stage_operations(run) for one in operations)
