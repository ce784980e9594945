"""Learns from a log what an accelerator's driver rejects, and writes it as a driver profile."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..delegates.driver import SCHEMA, DriverProfile, LogSource, Observation, Rejection, Signature, signature
from ..delegates.nnapi.delegate import DriverQuestion, NnapiDelegate, driver_questions
from ..delegates.nnapi.mapping import OPERATIONS
from ..errors import DelegateSimError
from ..runtime.interpreter import simulate
from ..text import printable
from .reconcile import UNEXPLAINED, Reconciliation


class LearningError(DelegateSimError):
    """A log that nothing can be learnt from, or that contradicts what is known."""


@dataclass(frozen=True)
class Learning:
    """What was learnt: the refined profile, the rules that are new in it, and what stays open."""

    profile: DriverProfile
    added: tuple[Rejection, ...]
    notes: tuple[str, ...]


class _Seen:
    """What one log shows of the operations that the driver was asked about."""

    def __init__(self) -> None:
        self.accepted: set[Signature] = set()
        self.rejected: list[tuple[str, tuple[Signature, ...]]] = []
        """Operator and operations of each node that was rejected: one of the operations was."""
        self.open: list[list[tuple[str, tuple[Signature, ...]]]] = []
        """Nodes of which at least one was rejected."""


def learn(found: Reconciliation, log_name: str, profile: DriverProfile | None = None) -> Learning:
    """Refine a profile by what a reconciled log shows.

    Raises LearningError if the log does not tell what the driver did, or if it shows an operation accepted that was rejected
    with the same types and shapes before, or the other way round.
    """
    profile = profile or DriverProfile()
    seen = _seen(found)
    notes: list[str] = []
    rejected = _rejected(seen, profile, notes)
    source = LogSource(_base_name(log_name), _base_name(found.model.path or "model"), found.model.sha256)
    sources = [*profile.sources]
    if source not in sources:
        sources.append(source)
    observations = _joined(profile, seen.accepted, rejected, sources, sources.index(source))
    own = _written_by_hand(profile)
    for condition in own:
        for each in observations:
            if each.is_accepted and condition.covers(each.signature):
                where = _where(each, sources)
                raise LearningError(f"the profile rejects {condition_text(condition)}, but in {where} the driver took it")
    conditions = (*own, *_conditions(observations))
    accelerator = found.setting.options.get("accelerator_name") or profile.accelerator
    refined = DriverProfile(conditions, observations, tuple(sources), accelerator, profile.path)
    if not _reproduces(found, refined):
        notes.append("these rules alone do not reproduce the log: what is open here would have to be known")
    added = tuple(condition for condition in conditions if condition not in profile.conditions)
    return Learning(refined, added, tuple(notes))


def _reproduces(found: Reconciliation, profile: DriverProfile) -> bool:
    """Whether the profile, in place of the nodes that the log shows, leads to the same lines."""
    setting = found.setting
    options = {**setting.options, **(found.explanation.options if found.explanation else {}), "driver": profile}
    run = simulate(found.model, setting.delegate, MappingProxyType(options), found.run.release, setting.defaults)
    return run.log_lines == found.run.log_lines


def _seen(found: Reconciliation) -> _Seen:
    setting, explanation = found.setting, found.explanation
    if not isinstance(setting.delegate, NnapiDelegate):
        raise LearningError(f"only logs of NNAPI tell what a driver rejects, not those of {setting.delegate.name}")
    if found.status == UNEXPLAINED:
        raise LearningError("nothing is learnt from a log whose difference stays unexplained")
    if found.evidence == "partial" or (explanation is not None and explanation.kind == "driver" and found.evidence == "lines"):
        raise LearningError(
            "the log does not tell which nodes ran on the CPU; take it with --enable_op_profiling=true and --use_xnnpack=false"
        )
    undecided = explanation.undecided if explanation else {}
    changes = explanation.options if explanation else {}
    options = MappingProxyType({**setting.options, **changes})
    seen = _Seen()
    for subgraph in found.run.subgraphs:
        questions = driver_questions(subgraph.graph, options, found.run.release) if subgraph.decision is not None else None
        if questions is None:
            continue
        decision = subgraph.decision
        assert decision is not None
        aside = {node for node, reason in decision.set_aside.items() if reason.code == "nnapi-driver"}
        unsure = undecided.get(subgraph.graph.index, frozenset())
        if questions.has_float16:
            everything = [entry for partition in questions.partitions for entry in _entries(partition, partition.nodes)]
            _note(seen, everything, is_accepted=bool(subgraph.delegated), is_open=bool(aside))
            continue
        for partition in questions.partitions:
            if partition.is_all_or_nothing:
                is_accepted = not subgraph.delegated.isdisjoint(partition.nodes)
                entries = _entries(partition, partition.nodes)
                _note(seen, entries, is_accepted=is_accepted, is_open=not aside.isdisjoint(partition.nodes))
                continue
            taken = _entries(partition, [node for node in partition.nodes if node in subgraph.delegated])
            _note(seen, taken, is_accepted=True, is_open=False)
            seen.rejected += _entries(partition, [node for node in partition.nodes if node in aside and node not in unsure])
    return seen


def _entries(partition: DriverQuestion, nodes: Iterable[int]) -> list[tuple[str, tuple[Signature, ...]]]:
    found = []
    for index in nodes:
        operations = partition.operations.get(index, ())
        if operations:
            view = partition.graph.view(partition.graph.nodes[index])
            found.append((view.op, tuple(dict.fromkeys([signature(operation, view) for operation in operations]))))
    return found


def _note(seen: _Seen, entries: list[tuple[str, tuple[Signature, ...]]], *, is_accepted: bool, is_open: bool) -> None:
    if is_accepted:
        seen.accepted.update(each for _, operations in entries for each in operations)
    elif is_open:
        seen.open.append(entries)


def _rejected(seen: _Seen, profile: DriverProfile, notes: list[str]) -> set[Signature]:
    """Say which operations were rejected. Where it may have been one of several, the likeliest is chosen and noted."""
    known = {each.signature: each for each in profile.observations}
    accepted = seen.accepted.union([each.signature for each in known.values() if each.is_accepted])
    before = {each.signature for each in known.values() if not each.is_accepted}
    found: set[Signature] = set()
    several: dict[tuple[str, tuple[Signature, ...]], None] = {}
    for op, operations in seen.rejected:
        left = tuple(each for each in operations if each not in accepted)
        if not left:
            earlier = next((each for each in operations if each not in seen.accepted), operations[0])
            raise LearningError(_contradiction(earlier, known.get(earlier), profile.sources))
        if len(left) == 1:
            found.add(left[0])
        else:
            several[op, left] = None
    for op, left in several:
        if found.isdisjoint(left) and before.isdisjoint(left):
            chosen = _likeliest(op, left, accepted, found | before)
            found.add(chosen)
            names = ", ".join(each.operation for each in left)
            notes.append(f"{op} is mapped to several operations ({names}); taken to be rejected for {chosen.operation}")
    for entries in seen.open:
        possible = {each for _, operations in entries for each in operations} - accepted
        if not possible.isdisjoint(found | before):
            continue
        if len(possible) == 1:
            found |= possible
        else:
            names = ", ".join(sorted({each.operation for each in possible}))
            notes.append(
                f"the driver rejects at least one of {names} in nodes that are taken all or none; which one is not known"
            )
    return found


def _likeliest(op: str, left: Sequence[Signature], accepted: set[Signature], rejected: set[Signature]) -> Signature:
    kinds = {(each.operation, each.types) for each in rejected}
    for each in left:
        if (each.operation, each.types) in kinds:
            return each
    never = {(each.operation, each.types) for each in accepted}
    new = [each for each in left if (each.operation, each.types) not in never] or list(left)
    return next((each for each in new if each.operation == OPERATIONS.get(op)), new[0])


def _joined(
    profile: DriverProfile, accepted: set[Signature], rejected: set[Signature], sources: Sequence[LogSource], number: int
) -> tuple[Observation, ...]:
    """Add what a log shows to what is known; the same operation cannot be accepted and rejected."""
    joined: dict[Signature, Observation] = {each.signature: each for each in profile.observations}
    for signatures, is_accepted in ((accepted, True), (rejected, False)):
        for each in signatures:
            known = joined.get(each)
            if known is not None and known.is_accepted != is_accepted:
                raise LearningError(_contradiction(each, known, sources))
            logs = known.logs if known is not None else ()
            joined[each] = Observation(each, is_accepted, logs if number in logs else (*logs, number))
    return tuple(sorted(joined.values(), key=lambda each: (each.is_accepted, each.signature)))


def _contradiction(found: Signature, known: Observation | None = None, sources: Sequence[LogSource] = ()) -> str:
    where = "in one log" if known is None else f"here and in {_where(known, sources)}"
    return printable(
        f"{signature_text(found)} is accepted and rejected with the same types and shapes, {where}; what the driver goes by is "
        "not in types and shapes, or the logs are of different drivers"
    )


def _where(observation: Observation, sources: Sequence[LogSource]) -> str:
    names = [sources[number].log for number in observation.logs if number < len(sources)]
    return f"the log {names[0]}" if names else "the profile"


def _written_by_hand(profile: DriverProfile) -> tuple[Rejection, ...]:
    """Return the rules that no rejection in the profile's logs stands behind."""
    rejected = [each.signature for each in profile.observations if not each.is_accepted]
    return tuple(condition for condition in profile.conditions if not any(map(condition.covers, rejected)))


def _conditions(observations: Iterable[Observation]) -> Iterator[Rejection]:
    """Return rules that cover what was rejected and nothing that was accepted: by types, then by rank, then by shapes."""
    groups: dict[tuple[str, tuple[str, ...]], tuple[list[Signature], list[Signature]]] = {}
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


def signature_text(found: Signature) -> str:
    """Return an operation with its operands: ``ADD(FLOAT32[1,4], FLOAT32[1,4])``."""
    operands = [f"{kind}[{','.join(map(str, shape))}]" for kind, shape in zip(found.types, found.shapes, strict=False)]
    return f"{found.operation}({', '.join(operands)})"


def condition_text(condition: Rejection) -> str:
    """Return a rule as a phrase: ``ADD of FLOAT32, FLOAT32 with rank 4``."""
    if condition.shapes is not None and condition.types is not None:
        return signature_text(Signature(condition.operation, condition.types, condition.shapes))
    text = condition.operation
    if condition.types:
        text += f" of {', '.join(condition.types)}"
    return text if condition.rank is None else f"{text} with rank {condition.rank}"


def learning_entry(learning: Learning, path: str) -> dict[str, Any]:
    """Return what was learnt as plain data: the file, its rules, which of them are new, and what stays open."""
    return {
        "path": path,
        "rejects": [_condition_entry(condition) for condition in learning.profile.conditions],
        "added": [_condition_entry(condition) for condition in learning.added],
        "notes": list(learning.notes),
    }


def _condition_entry(condition: Rejection) -> dict[str, Any]:
    return {
        "operation": condition.operation,
        "types": None if condition.types is None else list(condition.types),
        "rank": condition.rank,
        "shapes": None if condition.shapes is None else [list(shape) for shape in condition.shapes],
    }


def profile_text(profile: DriverProfile) -> str:
    """Return the file of a profile."""
    lines = [
        "# What the driver of an accelerator rejects, as logs of a device showed it.",
        "# Written by 'delegate-sim reconcile --learn'; 'seen' is what the rules in 'rejects' are made from.",
        f"schema = {_quoted(SCHEMA)}",
    ]
    if profile.accelerator:
        lines.append(f"accelerator = {_quoted(profile.accelerator)}")
    for condition in profile.conditions:
        lines += ["", "[[rejects]]", f"operation = {_quoted(condition.operation)}"]
        if condition.types is not None:
            lines.append(f"types = {_texts(condition.types)}")
        if condition.rank is not None:
            lines.append(f"rank = {condition.rank}")
        if condition.shapes is not None:
            lines.append(f"shapes = {json.dumps(condition.shapes)}")
    for source in profile.sources:
        lines += ["", "[[logs]]", *[f"{key} = {_quoted(value)}" for key, value in _source_entry(source).items()]]
    for each in profile.observations:
        lines += [
            "",
            "[[seen]]",
            f"operation = {_quoted(each.signature.operation)}",
            f"types = {_texts(each.signature.types)}",
            f"shapes = {json.dumps(each.signature.shapes)}",
            f"accepted = {'true' if each.is_accepted else 'false'}",
            f"logs = {json.dumps(each.logs)}",
        ]
    return "\n".join(lines) + "\n"


def _source_entry(source: LogSource) -> Mapping[str, str]:
    return {"log": source.log, "model": source.model, "sha256": source.model_sha256}


def _base_name(path: str) -> str:
    """Return the name of a file, without the folder, which means nothing elsewhere."""
    return printable(os.path.basename(path) or path)


def _texts(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)
