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
from ..compare.reconciliation import Reconciliation
from ..compare.runtime_log_check import MatchedPartition, matched_partitions, split_differences, stage_operations
from ..compare.trial_simulations import simulate_setting
from ..parse.nnapi_vlog import RuntimeCompilation
from .driver_profile import LearningError

_AVAILABLE = "accelerators available"


@dataclass(frozen=True, slots=True)
class DevicesLearning:
    """What was learnt: the devices, the text of their profile, and what remains open."""

    devices: tuple[DeviceTraits, ...]
    text: str
    notes: tuple[str, ...]


def devices_entry(learning: DevicesLearning) -> list[dict[str, Any]]:
    """Return the devices that were learnt as plain data."""
    return [
        {**asdict(each), "costs": dict(each.costs), "rejects": [asdict(one) for one in each.rejects]} for each in learning.devices
    ]


def can_teach_devices(found: Reconciliation) -> bool:
    """Return whether the log has what the runtime behind the delegate chose."""
    return found.setting.delegate.devices is not None and any(each.choices for each in found.log.runtime.compilations)


@dataclass
class _SeenDevice:
    """What the log shows of one device."""

    taken: dict[StageSignature, None] = field(default_factory=dict)
    refused: dict[StageSignature, None] = field(default_factory=dict)
    failed: list[tuple[StageOperation, ...]] = field(default_factory=list)
    compiled: list[tuple[StageOperation, ...]] = field(default_factory=list)


def learn_devices(found: Reconciliation) -> DevicesLearning:
    """Learn a profile of the devices from what the runtime chose.

    Raises LearningError if none of what it compiled is a partition of the simulation.
    """
    interface = found.setting.delegate.devices
    assert interface is not None
    matched = [each for each in matched_partitions(found.log.runtime, found.run) if each.compilation is not None]
    if not matched:
        raise LearningError(
            "nothing can be learnt about devices: the operations that the runtime compiled are not those of a simulated partition"
        )
    notes: list[str] = []
    missing = sum([bool(each.choices) for each in found.log.runtime.compilations]) - len(matched)
    if missing:
        notes.append(f"{missing} of the models that the runtime compiled are not partitions of the simulation, and not used")
    names = [name for name in _device_names(found, interface) if name != interface.reference]
    seen = {name: _SeenDevice() for name in names}
    beaten: dict[str, Counter[tuple[str, str]]] = {}
    for each in matched:
        _look(each, names, interface, seen, beaten)
    _look_at_rejected(found, seen)
    costs = _costs(beaten, names, interface.reference, notes)
    devices = tuple([_traits(name, seen[name], costs.get(name, {}), notes) for name in names])
    text = interface.profile_text(devices, found.setting.options)
    if not _reproduces(found, interface, text):
        notes.append("this profile does not lead to the steps of the log; the devices decide by something that it cannot express")
    return DevicesLearning(devices, text, tuple(notes))


def _device_names(found: Reconciliation, interface: DevicesInterface) -> list[str]:
    """Return all devices in the order in which the runtime lists them, as far as the log tells."""
    log = found.log
    listed = [name for name, _ in log.runtime.devices]
    if not listed:
        values = [value for key, value in log.parameters.items() if key.endswith(_AVAILABLE)]
        listed = [name.strip() for value in values[:1] for name in value.split(",") if name.strip()]
    numbers = {number: name for each in log.runtime.compilations for number, name in each.names.items()}
    chosen = [name for _, name in sorted(numbers.items())]
    refusing = [name for each in log.runtime.compilations for choice in each.choices for name in choice.refused_by]
    known = dict.fromkeys([*listed, *chosen, *refusing])
    involved = {*chosen, *refusing}
    # A driver that took part neither way was not asked, so nothing is known of it.
    return [name for name in known if name in involved or (name in listed and _took_part(name, found, interface))]


def _took_part(name: str, found: Reconciliation, interface: DevicesInterface) -> bool:
    """Whether the runtime chose among as many devices as are listed, so that this one took operations without being chosen."""
    counts = [each.device_count for each in found.log.runtime.compilations if each.device_count is not None]
    listed = {each for each, _ in found.log.runtime.devices} | {interface.reference}
    return bool(counts) and name in listed and max(counts) >= len(listed) - 1


def _look(
    each: MatchedPartition,
    names: Sequence[str],
    interface: DevicesInterface,
    seen: Mapping[str, _SeenDevice],
    beaten: dict[str, Counter[tuple[str, str]]],
) -> None:
    """Note who takes each operation, and who was preferred to whom."""
    compilation = each.compilation
    assert compilation is not None
    taking_part = _taking_part(compilation, names, interface)
    for operation, choice in zip(each.operations, compilation.choices, strict=True):
        signature = StageSignature(operation.name, operation.types, operation.shapes)
        votes = beaten.setdefault(operation.cost, Counter())
        for name in taking_part:
            if name in choice.refused_by:
                if name in seen:
                    seen[name].refused[signature] = None
                continue
            if name in seen:
                seen[name].taken[signature] = None
            if name != choice.device and choice.device in taking_part:
                votes[choice.device, name] += 1
        if choice.device in taking_part and len(taking_part) == 1:
            votes[choice.device, choice.device] += 1
    failed = {failure.step: failure.device for failure in compilation.failures}
    for place, step in enumerate(compilation.steps):
        name = compilation.names.get(step.number, "")
        operations = tuple([each.operations[index] for index in step.operations if index < len(each.operations)])
        if name in seen and place not in failed:
            seen[name].compiled.append(operations)
        elif name in seen:
            seen[name].failed.append(operations)
        if place in failed:
            break  # the first failure ends it


def _taking_part(compilation: RuntimeCompilation, names: Sequence[str], interface: DevicesInterface) -> list[str]:
    """Return the devices that a model was compiled for."""
    count = compilation.device_count
    chosen = {each.device for each in compilation.choices}
    refusing = {name for each in compilation.choices for name in each.refused_by}
    if count is not None and count == 1:
        return [name for name in (*names, interface.reference) if name in chosen | refusing]
    has_reference = interface.reference in chosen or (count is not None and count > len(names))
    return [*names, *([interface.reference] if has_reference else [])]


def _look_at_rejected(found: Reconciliation, seen: Mapping[str, _SeenDevice]) -> None:
    """Nodes that the accelerators rejected before the runtime compiled anything are refused by all devices."""
    if found.account is None or not found.account.rejected:
        return
    base = simulate_setting(found.model, found.setting, found.run.release)
    for subgraph, operations in stage_operations(base):
        rejected = found.account.rejected.get(subgraph, frozenset())
        rejected -= found.account.undecided.get(subgraph, frozenset())
        for one in operations:
            if one.node in rejected:
                for device in seen.values():
                    signature = StageSignature(one.name, one.types, one.shapes)
                    if signature not in device.taken:
                        device.refused[signature] = None


def _costs(
    beaten: Mapping[str, Counter[tuple[str, str]]], names: Sequence[str], reference: str, notes: list[str]
) -> dict[str, dict[str, float]]:
    """Return costs that lead to the choices: by device, and by what costs are listed under."""
    costs: dict[str, dict[str, float]] = {}
    for key, votes in beaten.items():
        better: dict[str, set[str]] = {}
        for (one, other), _ in sorted(votes.items(), key=lambda entry: -entry[1]):
            if one == other:
                better.setdefault(one, set())
            elif _reaches(better, other, one):
                notes.append(
                    f"{one} and {other} are each chosen before the other for {key}: by something that costs cannot express"
                )
            else:
                better.setdefault(one, set()).add(other)
        involved = {*better, *[other for others in better.values() for other in others]}
        order = _ordered([*[name for name in names if name in involved], reference], better)
        place = order.index(reference)
        for number, name in enumerate(order):
            if name != reference:
                cost = (number + 1) / (place + 1) if number < place else 1.0 + number - place
                costs.setdefault(name, {})[key] = round(cost, 3)
    return costs


def _reaches(better: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Return whether something is worse than another, directly or by way of others."""
    reached, left = {start}, [start]
    while left:
        for name in better.get(left.pop(), ()):
            if name not in reached:
                reached.add(name)
                left.append(name)
    return end in reached


def _ordered(names: Sequence[str], better: Mapping[str, set[str]]) -> list[str]:
    """Return the names from the best to the worst; where nothing is known, in the given order."""
    left, order = list(names), []
    while left:
        name = next(each for each in left if not any(_reaches(better, other, each) for other in left if other != each))
        left.remove(name)
        order.append(name)
    return order


def _traits(name: str, seen: _SeenDevice, costs: Mapping[str, float], notes: list[str]) -> DeviceTraits:
    fails = bool(seen.failed) and not seen.compiled
    cannot: tuple[str, ...] = ()
    largest = None
    if seen.failed and not fails:
        fine = {one.name for operations in seen.compiled for one in operations}
        cannot = tuple(sorted({one.name for operations in seen.failed for one in operations} - fine))
        if not cannot:
            most = max(map(_bytes, seen.compiled))
            if most < min(map(_bytes, seen.failed)):
                largest = most
            else:
                notes.append(f"{name} failed to compile a step that differs from others neither in operations nor in bytes")
    return DeviceTraits(name, costs, tuple(_rejections(seen, name, notes)), fails, cannot, largest)


def _bytes(operations: Sequence[StageOperation]) -> int:
    return sum({index: size for one in operations for index, size in one.operands}.values())


def _rejections(seen: _SeenDevice, device: str, notes: list[str]) -> Iterator[StageSignature]:
    """Yield what covers all that was refused and nothing that was taken: by operation, else by types, else by shapes."""
    taken = {each.operation for each in seen.taken}
    with_types = {(each.operation, each.types) for each in seen.taken}
    found: dict[StageSignature, None] = {}
    for each in seen.refused:
        if each.operation not in taken:
            found[StageSignature(each.operation)] = None
        elif (each.operation, each.types) not in with_types:
            found[StageSignature(each.operation, each.types)] = None
        elif each not in seen.taken:
            found[each] = None
        else:
            notes.append(f"{device} takes and refuses {each.operation} with the same types and shapes")
    yield from sorted(found, key=str)


def _reproduces(found: Reconciliation, interface: DevicesInterface, text: str) -> bool:
    """Return whether a simulation with the profile leads to the steps of the log."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.toml")
        write_whole(path, text)
        options = {key: value for key, value in found.setting.options.items() if key != interface.option}
        profile = next(one for one in found.setting.delegate.options if one.name == interface.option).parse(path)
        changes = {**options, interface.option: profile}
        run = simulate_setting(found.model, found.setting, found.run.release, changes)
    return not any(split_differences(found.log, run))
