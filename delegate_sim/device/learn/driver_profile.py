"""Learn a driver profile from a device log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...delegates.driver import DriverInterface, DriverQuestion, DriverQuestions, OperationSignature, signature
from ...delegates.driver_profile import SCHEMA, DriverProfile, LogSource, Observation, Rejection
from ...delegates.profile_file import toml_string, toml_strings
from ...errors import DelegateSimError
from ...foundation.printable import printable
from ...runtime.interpreter import SubgraphRun
from ..compare.cpu_reasons import nodes_set_aside
from ..compare.reconciliation import UNEXPLAINED, Reconciliation
from ..compare.trial_simulations import simulate_setting
from ..parse.applied_target import flags_without_others


class LearningError(DelegateSimError):
    """A log that nothing can be learnt from, or that contradicts what is known already."""


@dataclass(frozen=True, slots=True)
class Learning:
    """What was learnt: the refined profile, the rules that are new in it, and what remains open."""

    profile: DriverProfile
    added: tuple[Rejection, ...]
    notes: tuple[str, ...]


_AskedNode = tuple[str, tuple[OperationSignature, ...]]
"""A node that the driver was asked about: its operator, and the operations that it maps to."""


class _Seen:
    """What one log shows of the operations that the driver was asked about."""

    def __init__(self) -> None:
        self.accepted: set[OperationSignature] = set()
        self.rejected: list[_AskedNode] = []
        """The nodes that were rejected: each for at least one of its operations."""
        self.open: list[list[_AskedNode]] = []
        """Groups of nodes of which at least one was rejected."""


def learn(found: Reconciliation, log_name: str, profile: DriverProfile | None = None) -> Learning:
    """Refine a profile by what a reconciled log shows.

    Raises LearningError if the log does not tell what the driver did, or if it shows an operation accepted that was rejected
    with the same types and shapes before, or the other way round.
    """
    interface = _driver_interface(found)
    profile = profile or DriverProfile()
    seen = _seen(found, interface)
    notes: list[str] = []
    rejected, open_groups = _rejected(seen, profile, interface.operations, notes)
    source = LogSource(_base_name(log_name), _base_name(found.model.path or "model"), found.model.sha256)
    sources = [*profile.sources]
    if source not in sources:
        sources.append(source)
    observations = _joined(profile, seen.accepted, rejected, sources, sources.index(source))
    own = _written_by_hand(profile)
    for rejection in own:
        for each in observations:
            if each.is_accepted and rejection.covers(each.signature):
                where = _where(each, sources)
                raise LearningError(f"the profile rejects {rejection_text(rejection)}, but in {where} the driver accepted it")
    rejections = (*own, *_rejections(observations))
    accelerator = found.setting.options.get(interface.accelerator_option) or profile.accelerator
    refined = DriverProfile(rejections, observations, tuple(sources), accelerator, profile.path, open_groups)
    if not _reproduces(found, interface, refined):
        notes.append("these rules alone do not reproduce the log; what it leaves open would have to be known")
    added = tuple(rejection for rejection in rejections if rejection not in profile.rejections)
    return Learning(refined, added, tuple(notes))


def _driver_interface(found: Reconciliation) -> DriverInterface:
    """Return what the delegate says about its driver; raises LearningError if the log tells nothing about one."""
    delegate = found.setting.delegate
    if delegate.driver is None:
        raise LearningError(f"a log of {delegate.name} teaches nothing about a driver: no driver decides which nodes it takes")
    if found.status == UNEXPLAINED:
        raise LearningError("nothing can be learnt from a log with a difference that remains unexplained")
    is_by_lines = found.account is not None and found.account.kind == "driver" and found.evidence == "lines"
    if found.evidence == "partial" or is_by_lines:
        flags = " and ".join(filter(None, ("--enable_op_profiling=true", flags_without_others(delegate))))
        raise LearningError(f"the log does not tell which nodes ran on the CPU; take it with {flags}")
    return delegate.driver


def _reproduces(found: Reconciliation, interface: DriverInterface, profile: DriverProfile) -> bool:
    """Return whether the profile, instead of the nodes that the log shows, leads to the same lines."""
    changes = {**_changes(found), interface.option: profile}
    return simulate_setting(found.model, found.setting, found.run.release, changes).log_lines == found.run.log_lines


def _changes(found: Reconciliation) -> Mapping[str, Any]:
    """Return the options that had to be changed to account for the log."""
    return found.account.options if found.account is not None else {}


def _seen(found: Reconciliation, interface: DriverInterface) -> _Seen:
    options = MappingProxyType({**found.setting.options, **_changes(found)})
    seen = _Seen()
    for subgraph in found.run.subgraphs:
        if subgraph.decision is None:
            continue
        questions = interface.questions(subgraph.graph, options, found.run.release)
        if questions is None:
            continue
        rejected = nodes_set_aside(subgraph.decision, interface.code)
        undecided = found.account.undecided if found.account is not None else {}
        _look(seen, subgraph, questions, rejected, undecided.get(subgraph.graph.index, frozenset()))
    return seen


def _look(
    seen: _Seen, subgraph: SubgraphRun, questions: DriverQuestions, rejected: frozenset[int], undecided: frozenset[int]
) -> None:
    """Note what a subgraph shows; of undecided nodes it is not known whether they were rejected."""
    if questions.has_float16:
        everything = [entry for partition in questions.partitions for entry in _entries(partition, partition.nodes)]
        _note(seen, everything, is_accepted=bool(subgraph.delegated), is_open=bool(rejected))
        return
    for partition in questions.partitions:
        if partition.is_all_or_nothing:
            is_accepted = not subgraph.delegated.isdisjoint(partition.nodes)
            entries = _entries(partition, partition.nodes)
            _note(seen, entries, is_accepted=is_accepted, is_open=not rejected.isdisjoint(partition.nodes))
            continue
        accepted = _entries(partition, [node for node in partition.nodes if node in subgraph.delegated])
        _note(seen, accepted, is_accepted=True, is_open=False)
        seen.rejected += _entries(partition, [node for node in partition.nodes if node in rejected - undecided])


def _entries(partition: DriverQuestion, nodes: Iterable[int]) -> list[_AskedNode]:
    found = []
    for index in nodes:
        operations = partition.operations.get(index, ())
        if operations:
            view = partition.graph.view(partition.graph.nodes[index])
            found.append((view.op, tuple(dict.fromkeys([signature(operation, view) for operation in operations]))))
    return found


def _note(seen: _Seen, entries: list[_AskedNode], *, is_accepted: bool, is_open: bool) -> None:
    if is_accepted:
        seen.accepted.update(each for _, operations in entries for each in operations)
    elif is_open:
        seen.open.append(entries)


def _rejected(
    seen: _Seen, profile: DriverProfile, mapped: Mapping[str, str], notes: list[str]
) -> tuple[set[OperationSignature], tuple[frozenset[OperationSignature], ...]]:
    """Return which operations were rejected, and of which groups at least one was, in nodes that are taken together.

    Where a node may have been rejected for any of several operations, choose the likeliest and note that.

    ``mapped`` are the operations that stand for operators.
    """
    known = {each.signature: each for each in profile.observations}
    accepted = seen.accepted.union([each.signature for each in known.values() if each.is_accepted])
    before = {each.signature for each in known.values() if not each.is_accepted}
    found: set[OperationSignature] = set()
    several: dict[_AskedNode, None] = {}
    for op, operations in seen.rejected:
        left = tuple(each for each in operations if each not in accepted)
        if not left:
            earlier = next((each for each in operations if each not in seen.accepted), operations[0])
            raise LearningError(_contradiction(earlier, known.get(earlier), profile.sources))
        if len(left) == 1:
            found.add(left[0])
        else:
            several[op, left] = None
    for op, candidates in several:
        if found.isdisjoint(candidates) and before.isdisjoint(candidates):
            chosen = _likeliest(mapped.get(op), candidates, accepted, found | before)
            found.add(chosen)
            names = ", ".join(each.operation for each in candidates)
            notes.append(f"{op} maps to several operations ({names}); {chosen.operation} is assumed to be the one rejected")
    groups: dict[frozenset[OperationSignature], None] = {}
    for entries in seen.open:
        groups[frozenset([each for _, operations in entries for each in operations])] = None
    remaining: dict[frozenset[OperationSignature], None] = {}
    for group in (*groups, *profile.one_of):
        possible = group - accepted
        if not possible or not possible.isdisjoint(found | before):
            continue
        if len(possible) == 1:
            found |= possible
        else:
            remaining[possible] = None
    for group in [group for group in remaining if group.isdisjoint(found)]:
        names = ", ".join(sorted({each.operation for each in group}))
        notes.append(
            f"the driver rejects at least one of {names} in nodes that are delegated together or not at all; which one is not "
            f"known, so another model is given nothing only if it has all of them"
        )
    return found, tuple([group for group in remaining if group.isdisjoint(found)])


def _likeliest(
    own: str | None, left: Sequence[OperationSignature], accepted: set[OperationSignature], rejected: set[OperationSignature]
) -> OperationSignature:
    """Choose an operation rejected elsewhere with these types, else one accepted nowhere, the operator's own first."""
    rejected_kinds = {(each.operation, each.types) for each in rejected}
    for each in left:
        if (each.operation, each.types) in rejected_kinds:
            return each
    accepted_kinds = {(each.operation, each.types) for each in accepted}
    new = [each for each in left if (each.operation, each.types) not in accepted_kinds] or list(left)
    return next((each for each in new if each.operation == own), new[0])


def _joined(
    profile: DriverProfile,
    accepted: set[OperationSignature],
    rejected: set[OperationSignature],
    sources: Sequence[LogSource],
    number: int,
) -> tuple[Observation, ...]:
    """Add what a log shows to what is known; the same operation cannot be both accepted and rejected."""
    joined: dict[OperationSignature, Observation] = {each.signature: each for each in profile.observations}
    for signatures, is_accepted in ((accepted, True), (rejected, False)):
        for each in signatures:
            known = joined.get(each)
            if known is not None and known.is_accepted != is_accepted:
                raise LearningError(_contradiction(each, known, sources))
            logs = known.logs if known is not None else ()
            joined[each] = Observation(each, is_accepted, logs if number in logs else (*logs, number))
    return tuple(sorted(joined.values(), key=lambda each: (each.is_accepted, each.signature)))


def _contradiction(found: OperationSignature, known: Observation | None = None, sources: Sequence[LogSource] = ()) -> str:
    where = "in one log" if known is None else f"here and in {_where(known, sources)}"
    return printable(
        f"{signature_text(found)} is accepted and rejected with the same types and shapes, {where}; either the driver decides by "
        "something other than types and shapes, or the logs are from different drivers"
    )


def _where(observation: Observation, sources: Sequence[LogSource]) -> str:
    names = [sources[number].log for number in observation.logs if number < len(sources)]
    return f"the log {names[0]}" if names else "the profile"


def _written_by_hand(profile: DriverProfile) -> tuple[Rejection, ...]:
    """Return the rules that cover no rejection in the profile's logs."""
    rejected = [each.signature for each in profile.observations if not each.is_accepted]
    return tuple(rejection for rejection in profile.rejections if not any(map(rejection.covers, rejected)))


def _rejections(observations: Iterable[Observation]) -> Iterator[Rejection]:
    """Return rules that cover all that was rejected and nothing that was accepted: by types, else by rank, else by shapes."""
    groups: dict[tuple[str, tuple[str, ...]], tuple[list[OperationSignature], list[OperationSignature]]] = {}
    for each in observations:
        key = (each.signature.operation, each.signature.types)
        groups.setdefault(key, ([], []))[each.is_accepted].append(each.signature)
    for (operation, types), (rejected, accepted) in sorted(groups.items()):
        if not rejected:
            continue
        if not accepted:
            yield Rejection(operation, types)
            continue
        ranks = {found.rank for found in accepted}
        for rank in sorted({found.rank for found in rejected}):
            if rank not in ranks:
                yield Rejection(operation, types, rank)
                continue
            for found in sorted(rejected):
                if found.rank == rank:
                    yield Rejection(operation, types, rank, found.shapes)


def signature_text(found: OperationSignature) -> str:
    """Return an operation with its operands: ``ADD(FLOAT32[1,4], FLOAT32[1,4])``."""
    operands = [f"{kind}[{','.join(map(str, shape))}]" for kind, shape in zip(found.types, found.shapes, strict=False)]
    return f"{found.operation}({', '.join(operands)})"


def rejection_text(rejection: Rejection) -> str:
    """Return a rule as a phrase: ``ADD of FLOAT32, FLOAT32 with rank 4``."""
    if rejection.shapes is not None and rejection.types is not None:
        return signature_text(OperationSignature(rejection.operation, rejection.types, rejection.shapes))
    text = rejection.operation
    if rejection.types:
        text += f" of {', '.join(rejection.types)}"
    return text if rejection.rank is None else f"{text} with rank {rejection.rank}"


def learning_entry(learning: Learning, path: str) -> dict[str, Any]:
    """Return what was learnt as plain data: the file, its rules, which of them are new, and what remains open."""
    return {
        "path": path,
        "rejects": [_rejection_entry(rejection) for rejection in learning.profile.rejections],
        "added": [_rejection_entry(rejection) for rejection in learning.added],
        "notes": list(learning.notes),
    }


def _rejection_entry(rejection: Rejection) -> dict[str, Any]:
    return {
        "operation": rejection.operation,
        "types": None if rejection.types is None else list(rejection.types),
        "rank": rejection.rank,
        "shapes": None if rejection.shapes is None else [list(shape) for shape in rejection.shapes],
    }


def profile_text(profile: DriverProfile) -> str:
    """Return a profile as the text of its file."""
    lines = [
        "# What the driver of an accelerator rejects, as logs of a device showed it.",
        "# Written by 'delegate-sim reconcile --learn'; the rules in 'rejects' are made from what is under 'seen'.",
        f"schema = {toml_string(SCHEMA)}",
    ]
    if profile.accelerator:
        lines.append(f"accelerator = {toml_string(profile.accelerator)}")
    for rejection in profile.rejections:
        lines += ["", "[[rejects]]", f"operation = {toml_string(rejection.operation)}"]
        if rejection.types is not None:
            lines.append(f"types = {toml_strings(rejection.types)}")
        if rejection.rank is not None:
            lines.append(f"rank = {rejection.rank}")
        if rejection.shapes is not None:
            lines.append(f"shapes = {json.dumps(rejection.shapes)}")
    for group in profile.one_of:
        lines += ["", "[[rejects_one_of]]", "operations = ["]
        lines += [f"    {_inline(each)}," for each in sorted(group)]
        lines.append("]")
    for source in profile.sources:
        lines += ["", "[[logs]]", *[f"{key} = {toml_string(value)}" for key, value in _source_entry(source).items()]]
    for each in profile.observations:
        lines += [
            "",
            "[[seen]]",
            f"operation = {toml_string(each.signature.operation)}",
            f"types = {toml_strings(each.signature.types)}",
            f"shapes = {json.dumps(each.signature.shapes)}",
            f"accepted = {'true' if each.is_accepted else 'false'}",
            f"logs = {json.dumps(each.logs)}",
        ]
    return "\n".join(lines) + "\n"


def _inline(found: OperationSignature) -> str:
    types, shapes = toml_strings(found.types), json.dumps(found.shapes)
    return f"{{ operation = {toml_string(found.operation)}, types = {types}, shapes = {shapes} }}"


def _source_entry(source: LogSource) -> Mapping[str, str]:
    return {"log": source.log, "model": source.model, "sha256": source.model_sha256}


def _base_name(path: str) -> str:
    """Return the name of a file without its folder, which means nothing on another machine."""
    return printable(os.path.basename(path) or path)
