"""Learn a profile of the devices behind a delegate from the log of Android's NNAPI runtime."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ...delegates.driver import DevicesInterface, DeviceTraits, StageOperation, StageSignature
from ...foundation.files import write_whole
from ...foundation.limits import how_to_raise, raised
from ..parse.compilations import RuntimeCompilation
from .driver_profile import LearningError
from .reconcile import Reconciliation
from .row_matching import matched_partitions, split_differences, stage_operations
from .trial_simulations import simulate_setting


@dataclass(frozen=True, slots=True)
class DevicesLearning:
    """The learned devices, the text of the device profile, and notes on open questions."""

    devices: tuple[DeviceTraits, ...]
    text: str
    notes: tuple[str, ...]


def devices_entry(learning: DevicesLearning) -> list[dict[str, Any]]:
    """Return the learned devices as plain data."""
    return [
        {**asdict(device), "costs": dict(device.costs), "rejects": [asdict(rejection) for rejection in device.rejects]}
        for device in learning.devices
    ]


def can_teach_devices(reconciliation: Reconciliation) -> bool:
    """Return whether the log shows the devices that the runtime chose."""
    compilations = reconciliation.log.runtime.compilations
    return reconciliation.setting.delegate.behind.devices is not None and any(own.choices for own in compilations)


@dataclass
class _SeenDevice:
    taken: dict[StageSignature, None] = field(default_factory=dict)
    refused: dict[StageSignature, None] = field(default_factory=dict)
    failed: list[tuple[StageOperation, ...]] = field(default_factory=list)
    compiled: list[tuple[StageOperation, ...]] = field(default_factory=list)


def _signature(operation: StageOperation) -> StageSignature:
    return StageSignature(operation.name, operation.types, operation.shapes)


def learn_devices(reconciliation: Reconciliation) -> DevicesLearning:
    """Learn a profile of the devices from the runtime's choices. Raises LearningError if none matches, or if it is too large."""
    interface = reconciliation.setting.delegate.behind.devices
    assert interface is not None
    names = [name for name in _device_names(reconciliation, interface) if name != interface.reference]
    most = raised(interface.most_devices)
    if len(names) > most:
        raise LearningError(f"the log has {len(names):,} devices, but a profile has at most {most:,}{how_to_raise()}")
    partitions = matched_partitions(reconciliation.log.runtime, reconciliation.run)
    matched = [(operations, compilation) for operations, compilation in partitions if compilation is not None]
    if not matched:
        raise LearningError(
            "nothing can be learned about devices, because the operations that the runtime compiled match no simulated partition"
        )
    notes: list[str] = []
    compiled = [compilation for compilation in reconciliation.log.runtime.compilations if compilation.choices]
    if missing := len(compiled) - len(matched):
        models = "model that matches" if missing == 1 else "models that match"
        notes.append(f"ignored: {missing} compiled {models} no simulated partition")
    seen = {name: _SeenDevice() for name in names}
    beaten: dict[str, Counter[tuple[str, str]]] = {}
    for operations, compilation in matched:
        _look(operations, compilation, _taking_part(compilation, names, interface), seen, beaten)
    _look_at_rejected(reconciliation, seen)
    costs = _costs(beaten, names, interface.reference, notes)
    devices = tuple([_traits(name, seen[name], costs.get(name, {}), notes) for name in names])
    text = interface.profile_text(devices, reconciliation.setting.options)
    if not _reproduces(reconciliation, interface, text):
        notes.append(
            "this profile does not reproduce the steps in the log; the devices decide for reasons that a profile cannot express"
        )
    return DevicesLearning(devices, text, tuple(notes))


def _device_names(reconciliation: Reconciliation, interface: DevicesInterface) -> list[str]:
    log = reconciliation.log
    compilations, devices = log.runtime.compilations, list(log.runtime.devices)
    listed = devices or log.available_devices
    numbers = {number: name for compilation in compilations for number, name in compilation.names.items()}
    chosen = [name for _, name in sorted(numbers.items())]
    refusing = [name for compilation in compilations for choice in compilation.choices for name in choice.refused_by]
    # If as many devices as are listed took part, each operation was offered to all. Otherwise, nothing is known about a driver
    # that neither took nor refused an operation.
    counts = [compilation.device_count or 0 for compilation in compilations if compilation.device_count is not None]
    all_took_part = bool(counts) and max(counts) >= len({*devices, interface.reference}) - 1
    involved = {*chosen, *refusing, *(devices if all_took_part else ())}
    return [name for name in dict.fromkeys([*listed, *chosen, *refusing]) if name in involved]


def _look(
    partition: Sequence[StageOperation],
    compilation: RuntimeCompilation,
    taking_part: Sequence[str],
    seen: Mapping[str, _SeenDevice],
    beaten: dict[str, Counter[tuple[str, str]]],
) -> None:
    for operation, choice in zip(partition, compilation.choices, strict=True):
        votes = beaten.setdefault(operation.cost, Counter())
        for name in taking_part:
            is_refused = name in choice.refused_by
            if name in seen:
                (seen[name].refused if is_refused else seen[name].taken)[_signature(operation)] = None
            if not is_refused and name != choice.device and choice.device in taking_part:
                votes[choice.device, name] += 1
        if choice.device in taking_part and len(taking_part) == 1:
            votes[choice.device, choice.device] += 1
    failed = {failure.step: failure.device for failure in compilation.failures}
    for place, step in enumerate(compilation.steps):
        name = compilation.names.get(step.number, "")
        operations = tuple([partition[index] for index in step.operations if index < len(partition)])
        if name in seen:
            (seen[name].failed if place in failed else seen[name].compiled).append(operations)
        if place in failed:
            break  # compiling stops at the first failure


def _taking_part(compilation: RuntimeCompilation, names: Sequence[str], interface: DevicesInterface) -> list[str]:
    count = compilation.device_count
    chosen = {choice.device for choice in compilation.choices}
    refusing = {name for choice in compilation.choices for name in choice.refused_by}
    if count == 1:
        return [name for name in (*names, interface.reference) if name in chosen | refusing]
    has_reference = interface.reference in chosen or (count is not None and count > len(names))
    return [*names, *([interface.reference] if has_reference else [])]


def _look_at_rejected(reconciliation: Reconciliation, seen: Mapping[str, _SeenDevice]) -> None:
    if reconciliation.account is None or not reconciliation.account.rejected:
        return
    base = simulate_setting(reconciliation.model, reconciliation.setting, reconciliation.run.release)
    for subgraph, operations in stage_operations(base):
        rejected = reconciliation.account.rejected.get(subgraph, frozenset())
        rejected -= reconciliation.account.undecided.get(subgraph, frozenset())
        signatures = [_signature(operation) for operation in operations if operation.node in rejected]
        for device in seen.values():
            device.refused.update(dict.fromkeys([signature for signature in signatures if signature not in device.taken]))


def _costs(
    beaten: Mapping[str, Counter[tuple[str, str]]], names: Sequence[str], reference: str, notes: list[str]
) -> dict[str, dict[str, float]]:
    costs: dict[str, dict[str, float]] = {}
    for key, votes in beaten.items():
        better: dict[str, set[str]] = {}
        for (winner, loser), _ in sorted(votes.items(), key=lambda entry: -entry[1]):
            if winner == loser:
                better.setdefault(winner, set())
            elif _reaches(better, loser, winner):
                why = f"sometimes prefers {winner} to {loser} and sometimes the reverse"
                notes.append(f"for {key}, the runtime {why}, which costs cannot express")
            else:
                better.setdefault(winner, set()).add(loser)
        involved = {*better, *[loser for others in better.values() for loser in others]}
        order = _ordered([*[name for name in names if name in involved], reference], better)
        place = order.index(reference)
        for number, name in enumerate(order):
            if name != reference:
                cost = (number + 1) / (place + 1) if number < place else 1.0 + number - place
                costs.setdefault(name, {})[key] = round(cost, 3)
    return costs


def _reaches(better: Mapping[str, set[str]], start: str, end: str) -> bool:
    reached = [start]
    for name in reached:  # grows inside the loop
        reached += better.get(name, set()).difference(reached)
    return end in reached


def _ordered(names: Sequence[str], better: Mapping[str, set[str]]) -> list[str]:
    left, order = list(names), []
    while left:
        name = next(name for name in left if not any(_reaches(better, other, name) for other in left if other != name))
        left.remove(name)
        order.append(name)
    return order


def _traits(name: str, seen: _SeenDevice, costs: Mapping[str, float], notes: list[str]) -> DeviceTraits:
    fails = bool(seen.failed) and not seen.compiled
    cannot: tuple[str, ...] = ()
    largest = None
    if seen.failed and not fails:
        fine = {operation.name for operations in seen.compiled for operation in operations}
        cannot = tuple(sorted({operation.name for operations in seen.failed for operation in operations} - fine))
        most = max(map(_bytes, seen.compiled))
        largest = most if not cannot and most < min(map(_bytes, seen.failed)) else None
        if not cannot and largest is None:
            notes.append(f"{name} failed to compile a step, but neither the operations nor the size of the step explain why")
    return DeviceTraits(name, costs, tuple(_rejections(seen, name, notes)), fails, cannot, largest)


def _bytes(operations: Sequence[StageOperation]) -> int:
    return sum({index: size for operation in operations for index, size in operation.operands}.values())


def _rejections(seen: _SeenDevice, device: str, notes: list[str]) -> Iterator[StageSignature]:
    """Yield rules that cover the rejected and no supported operations: by operation, or with types, or also with shapes."""
    taken_operations = {signature.operation for signature in seen.taken}
    with_types = {(signature.operation, signature.types) for signature in seen.taken}
    rejections: dict[StageSignature, None] = {}
    for signature in seen.refused:
        operation, types = signature.operation, signature.types
        if operation not in taken_operations:
            rejections[StageSignature(operation)] = None
        elif (operation, types) not in with_types:
            rejections[StageSignature(operation, types)] = None
        elif signature not in seen.taken:
            rejections[signature] = None
        else:
            notes.append(f"{device} both accepts and rejects {operation} with the same types and shapes")
    yield from sorted(rejections, key=str)


def _reproduces(reconciliation: Reconciliation, interface: DevicesInterface, text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.toml")
        write_whole(path, text)
        options = {key: value for key, value in reconciliation.setting.options.items() if key != interface.option}
        declared = {option.name: option for option in reconciliation.setting.delegate.options}
        profile = declared[interface.option].parse(path)
        changes = {**options, interface.option: profile}
        run = simulate_setting(reconciliation.model, reconciliation.setting, reconciliation.run.release, changes)
    return not any(split_differences(reconciliation.log, run))
