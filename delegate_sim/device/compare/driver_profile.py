"""Learn a driver profile from a device log."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from ...delegates.driver import DriverInterface, DriverQuestion, OperationSignature
from ...delegates.driver_profile import (
    DriverProfile,
    LogSource,
    Observation,
    Rejection,
    rules_covering,
    toml_entry,
    toml_string,
    toml_value,
)
from ...errors import DelegateSimError
from ...foundation.columns import schema_of
from ...foundation.printable import printable
from ..parse.applied_target import flags_without_others
from .driver_rejections import asked_operations
from .reconcile import NOT_CREATED, UNEXPLAINED, Reconciliation
from .trial_simulations import nodes_set_aside, simulate_setting


class LearningError(DelegateSimError):
    """Raised if a log teaches nothing, or if the log contradicts the profile."""


@dataclass(frozen=True, slots=True)
class Learning:
    """The refined profile, its new rules, and notes on open questions."""

    profile: DriverProfile
    added: tuple[Rejection, ...]
    notes: tuple[str, ...]


_AskedNode = tuple[str, tuple[OperationSignature, ...]]
"""A node that the delegate asked the driver about: its TFLite operator, and the driver's operations for the node."""


@dataclass
class _Seen:
    accepted: set[OperationSignature] = field(default_factory=set)
    rejected: list[_AskedNode] = field(default_factory=list)
    """Rejected nodes: the driver rejected at least one operation of each node."""
    open: list[list[_AskedNode]] = field(default_factory=list)
    """Groups of nodes: the driver rejected at least one node of each group."""


def learn(reconciliation: Reconciliation, log_name: str, profile: DriverProfile | None = None) -> Learning:
    """Refine a profile with a log that was compared with a simulation.

    Raises LearningError if the log does not show the nodes that the driver rejected, or if it accepts an operation with the types
    and shapes of one that the profile rejects, or the reverse.
    """
    interface = _driver_interface(reconciliation)
    profile = profile or DriverProfile()
    seen = _seen(reconciliation, interface)
    notes: list[str] = []
    rejected, open_groups = _rejected(seen, profile, interface.operations, notes)
    source = LogSource(_base_name(log_name), _base_name(reconciliation.model.path or "model"), reconciliation.model.sha256)
    sources = list(dict.fromkeys([*profile.sources, source]))
    observations = _joined(profile, seen.accepted, rejected, sources, sources.index(source))
    rejected_before = [seen.signature for seen in profile.observations if not seen.is_accepted]
    learned = {rule for operation in rejected_before for rule in rules_covering(operation)}
    own = tuple([rejection for rejection in profile.rejections if rejection not in learned])  # written by hand
    rules = set(own)
    for observation in [observation for observation in observations if observation.is_accepted]:
        rejection = next(filter(rules.__contains__, rules_covering(observation.signature)), None)
        if rejection is not None:
            where = _log_place(observation, sources)
            raise LearningError(f"the profile rejects {rejection_text(rejection)}, but in {where} the driver accepted it")
    rejections = (*own, *_rejections(observations))
    accelerator = reconciliation.setting.options.get(interface.accelerator_option) or profile.accelerator
    refined = DriverProfile(rejections, observations, tuple(sources), accelerator, profile.path, open_groups)
    account = reconciliation.account
    changes = {**({} if account is None else account.options), interface.option: refined}
    run = simulate_setting(reconciliation.model, reconciliation.setting, reconciliation.run.release, changes)
    if run.log_lines != reconciliation.run.log_lines:
        notes.append("the new rules alone do not reproduce the log, because the log does not show all rejected nodes")
    before = set(profile.rejections)
    added = tuple(rejection for rejection in rejections if rejection not in before)
    return Learning(refined, added, tuple(notes))


def _driver_interface(reconciliation: Reconciliation) -> DriverInterface:
    """Return the delegate's interface to its driver. Raises LearningError if the log does not show rejected nodes."""
    delegate = reconciliation.setting.delegate
    if delegate.behind.driver is None:
        raise LearningError(
            f"a log of {delegate.name} shows nothing about a driver, because no driver decides which nodes this delegate runs"
        )
    account, nothing = reconciliation.account, "nothing can be learned from a log"
    if reconciliation.status == UNEXPLAINED:
        raise LearningError(f"{nothing} with an unexplained difference")
    if account is not None and account.kind == NOT_CREATED:
        raise LearningError(f"{nothing} in which the delegate was not created")
    is_by_lines = account is not None and account.kind == "driver" and reconciliation.evidence == "lines"
    if reconciliation.evidence == "partial" or is_by_lines:
        flags = " and ".join(filter(None, ("--enable_op_profiling=true", flags_without_others(delegate))))
        raise LearningError(f"the log does not show which nodes ran on the CPU; record the log with {flags}")
    return delegate.behind.driver


def _seen(reconciliation: Reconciliation, interface: DriverInterface) -> _Seen:
    account, run, seen = reconciliation.account, reconciliation.run, _Seen()
    options = MappingProxyType({**reconciliation.setting.options, **({} if account is None else account.options)})
    for subgraph in run.subgraphs:
        decision, graph, delegated = subgraph.decision, subgraph.graph, subgraph.delegated
        questions = None if decision is None else interface.questions(graph, options, run.release)
        if decision is None or questions is None:
            continue
        rejected = nodes_set_aside(decision, interface.code)
        undecided = frozenset() if account is None else account.undecided.get(graph.index, frozenset())
        if questions.has_float16:
            everything = [entry for partition in questions.partitions for entry in _entries(partition, partition.nodes)]
            groups = [(everything, bool(delegated), bool(rejected))]
        else:
            groups = []
        for partition in () if questions.has_float16 else questions.partitions:
            nodes = partition.nodes
            if partition.is_all_or_nothing:
                groups.append((_entries(partition, nodes), not delegated.isdisjoint(nodes), not rejected.isdisjoint(nodes)))
            else:
                groups.append((_entries(partition, [node for node in nodes if node in delegated]), True, False))
                seen.rejected += _entries(partition, [node for node in nodes if node in rejected - undecided])
        for entries, are_accepted, is_open in groups:
            if are_accepted:
                seen.accepted.update([operation for _, operations in entries for operation in operations])
            elif is_open:
                seen.open.append(entries)
    return seen


def _entries(partition: DriverQuestion, nodes: Iterable[int]) -> list[_AskedNode]:
    asked = [asked_operations(partition, node) for node in nodes]
    return [(op, tuple(dict.fromkeys(operations))) for op, operations in asked if operations]


def _rejected(
    seen: _Seen, profile: DriverProfile, mapped: Mapping[str, str], notes: list[str]
) -> tuple[set[OperationSignature], tuple[frozenset[OperationSignature], ...]]:
    """Return the rejected operations, and groups with at least one each. Of several candidates, the likeliest is chosen."""
    known = {observation.signature: observation for observation in profile.observations}
    accepted = seen.accepted.union([observation.signature for observation in known.values() if observation.is_accepted])
    before = {observation.signature for observation in known.values() if not observation.is_accepted}
    rejected: set[OperationSignature] = set()
    several: dict[_AskedNode, None] = {}
    for op, operations in seen.rejected:
        left = tuple(operation for operation in operations if operation not in accepted)
        if not left:
            earlier = next((operation for operation in operations if operation not in seen.accepted), operations[0])
            raise LearningError(_contradiction(earlier, known.get(earlier), profile.sources))
        if len(left) == 1:
            rejected.add(left[0])
        else:
            several[op, left] = None
    accepted_kinds, rejected_kinds = set(map(_kind, accepted)), set(map(_kind, rejected | before))
    for op, candidates in several:
        if rejected.isdisjoint(candidates) and before.isdisjoint(candidates):
            chosen = _likeliest(mapped.get(op), candidates, accepted_kinds, rejected_kinds)
            rejected.add(chosen)
            rejected_kinds.add(_kind(chosen))
            names = ", ".join(candidate.operation for candidate in candidates)
            notes.append(f"{op} maps to several operations ({names}); {chosen.operation} is assumed to be rejected")
    groups = [frozenset([operation for _, operations in entries for operation in operations]) for entries in seen.open]
    remaining: dict[frozenset[OperationSignature], None] = {}
    for group in dict.fromkeys([*groups, *profile.one_of]):
        possible = group - accepted
        if not possible or not possible.isdisjoint(rejected | before):
            continue
        if len(possible) == 1:
            rejected |= possible
        else:
            remaining[possible] = None
    still_open = tuple([group for group in remaining if group.isdisjoint(rejected)])
    for group in still_open:
        names = ", ".join(sorted({operation.operation for operation in group}))
        notes.append(
            f"the driver rejects at least one of {names}, but the log does not show which one; the profile applies this "
            "rejection only to models that have all of these operations"
        )
    return rejected, still_open


_Kind = tuple[str, tuple[str, ...]]


def _kind(operation: OperationSignature) -> _Kind:
    return operation.operation, operation.types


def _likeliest(
    own: str | None, left: Sequence[OperationSignature], accepted: set[_Kind], rejected: set[_Kind]
) -> OperationSignature:
    """Prefer an operation that is rejected elsewhere, then one never accepted with its types, then the operator's ``own``."""
    for operation in left:
        if _kind(operation) in rejected:
            return operation
    new = [operation for operation in left if _kind(operation) not in accepted] or list(left)
    return next((operation for operation in new if operation.operation == own), new[0])


def _joined(
    profile: DriverProfile,
    accepted: set[OperationSignature],
    rejected: set[OperationSignature],
    sources: Sequence[LogSource],
    number: int,
) -> tuple[Observation, ...]:
    joined = {observation.signature: observation for observation in profile.observations}
    for signatures, is_accepted in ((accepted, True), (rejected, False)):
        for operation in signatures:
            known = joined.get(operation)
            if known is not None and known.is_accepted != is_accepted:
                raise LearningError(_contradiction(operation, known, sources))
            logs = known.logs if known is not None else ()
            joined[operation] = Observation(operation, is_accepted, logs if number in logs else (*logs, number))
    return tuple(sorted(joined.values(), key=lambda observation: (observation.is_accepted, observation.signature)))


def _contradiction(operation: OperationSignature, known: Observation | None, sources: Sequence[LogSource]) -> str:
    where = "in one log" if known is None else f"here and in {_log_place(known, sources)}"
    return printable(
        f"{signature_text(operation)} is accepted and rejected with the same types and shapes, {where}; either the driver "
        "decides by something other than types and shapes, or the logs are from different drivers"
    )


def _log_place(observation: Observation, sources: Sequence[LogSource]) -> str:
    names = [sources[number].log for number in observation.logs if number < len(sources)]
    return f"the log {names[0]}" if names else "the profile"


def _rejections(observations: Iterable[Observation]) -> Iterator[Rejection]:
    """Yield rules that cover the rejected and no accepted operations: by types, or with the rank, or with the shapes."""
    groups: dict[_Kind, tuple[list[OperationSignature], list[OperationSignature]]] = {}
    for observation in observations:
        groups.setdefault(_kind(observation.signature), ([], []))[observation.is_accepted].append(observation.signature)
    for (operation, types), (rejected, accepted) in sorted(groups.items()):
        ranks = {example.rank for example in accepted}
        if rejected and not accepted:
            yield Rejection(operation, types)
            continue
        for rank, same in groupby(sorted(sorted(rejected), key=attrgetter("rank")), key=attrgetter("rank")):
            if rank in ranks:
                yield from [Rejection(operation, types, rank, example.shapes) for example in same]
            else:
                yield Rejection(operation, types, rank)


def signature_text(operation: OperationSignature) -> str:
    """Return an operation with its operands as text, such as ``ADD(FLOAT32[1,4], FLOAT32[1,4])``."""
    operands = [f"{kind}[{','.join(map(str, shape))}]" for kind, shape in zip(operation.types, operation.shapes, strict=False)]
    return f"{operation.operation}({', '.join(operands)})"


def rejection_text(rejection: Rejection) -> str:
    """Return a rule as a phrase, such as ``ADD of FLOAT32, FLOAT32 with rank 4``."""
    if rejection.shapes is not None and rejection.types is not None:
        return signature_text(OperationSignature(rejection.operation, rejection.types, rejection.shapes))
    text = rejection.operation
    if rejection.types:
        text += f" of {', '.join(rejection.types)}"
    return text if rejection.rank is None else f"{text} with rank {rejection.rank}"


def learning_entry(learning: Learning, path: str) -> dict[str, Any]:
    """Return the result as plain data."""
    return {
        "path": path,
        "rejects": list(map(asdict, learning.profile.rejections)),
        "added": list(map(asdict, learning.added)),
        "notes": list(learning.notes),
    }


def profile_text(profile: DriverProfile) -> str:
    """Return the text of a profile's file."""
    lines = [
        "# The operations that an accelerator's driver rejects, according to logs of a device.",
        "# Written by 'delegate-sim reconcile --learn', which derives the rules in 'rejects' from the observations in 'seen'.",
        f"schema = {toml_string(schema_of('driver'))}",
    ]
    if profile.accelerator:
        lines.append(f"accelerator = {toml_string(profile.accelerator)}")
    for rejection in profile.rejections:
        lines += toml_entry("rejects", asdict(rejection))
    for group in profile.one_of:
        lines += ["", "[[rejects_one_of]]", "operations = ["]
        for operation in sorted(group):
            inline = ", ".join([f"{key} = {toml_value(value)}" for key, value in operation._asdict().items()])
            lines.append(f"    {{ {inline} }},")
        lines.append("]")
    for source in profile.sources:
        lines += toml_entry("logs", {"log": source.log, "model": source.model, "sha256": source.model_sha256})
    for seen in profile.observations:
        lines += toml_entry("seen", {**seen.signature._asdict(), "accepted": seen.is_accepted, "logs": seen.logs})
    return "\n".join(lines) + "\n"


def _base_name(path: str) -> str:
    return printable(os.path.basename(path) or path)  # the folder means nothing on other machines
