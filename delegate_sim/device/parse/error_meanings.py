"""Explain the error lines in a log, without the model."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...delegates.base import Delegate
from ...delegates.registry import ACCELERATORS, EDGE_TPU, GRAPHICS_ACCELERATOR, plugin_of
from ...foundation.columns import Declared
from ...foundation.printable import counted
from ...llm.report import engine_meaning
from ...micro.resolver import BUILTIN_FUNCTIONS
from .delegate_identity import (
    DISPATCH,
    accelerator_of,
    delegate_named,
    names_in,
    other_name,
    plain_name,
    registered_accelerators,
    requested_accelerators,
    speaker,
)
from .known_lines import PrintedValue, Statement
from .log_contents import DeviceLog, long_lines_note
from .tables import CRASHES, FORMS, KINDS, MEANINGS, Event, meaning_by_words

_PREFIX, _NPU = "ANEURALNETWORKS_", "NPU"
_NEURON_CLOSED = (8, 2, 24)
"""The first version of MediaTek's Neuron in which the compiler decides about operators (``neuron_adapter_api.h``)."""
_CODES = MEANINGS["code"]
_NUMBERS = ("NO_ERROR", *[name.removeprefix(_PREFIX) for name in _CODES if name.startswith(_PREFIX)])
"""The result codes, in the order of their numbers in ``NeuralNetworks.h``."""
_MOST_SUBGRAPHS = 64
_PLAIN = (Event.PLAIN_ERROR, Event.UNSURE_ERROR)
_OF_ENGINES = frozenset({Event.FAILURE, Event.WARNED, Event.OTHER_ERROR, Event.RUNTIME_ERROR, Event.LOAD_ERROR})


@dataclass(frozen=True, slots=True)
class ExplainedError(Declared):
    """An error in a log, with the components whose source may print the line, and the fields of the line, if known."""

    kind: str
    line: str
    meaning: str
    times: int
    node: int | None = None
    printed_by: tuple[str, ...] = ()
    values: tuple[PrintedValue, ...] = ()


class _Kernels(NamedTuple):
    """The kernels that may be in a subgraph up to a line, numbered after its ``nodes``, with the first two different names."""

    place: int
    nodes: int | None
    most: float
    names: frozenset[str]


def explained_errors(log: DeviceLog) -> tuple[ExplainedError, ...]:
    """Return the distinct errors in a log, each with its meaning."""
    return LogMeanings(log).errors()


def explained_notes(log: DeviceLog) -> tuple[tuple[str, str], ...]:
    """Return the notable lines in a log that are not errors, with their meanings."""
    return tuple(dict.fromkeys(LogMeanings(log).notes()))


class LogMeanings:
    """The meanings of the lines of a log. What they need to know of the whole log is found once."""

    def __init__(self, log: DeviceLog) -> None:
        self.log = log
        self._registered, self._requested = registered_accelerators(log), requested_accelerators(log)

    def errors(self) -> tuple[ExplainedError, ...]:
        """Return the distinct errors, each with its meaning."""
        log, statements = self.log, self.log.errors
        has_reason = any(error.kind not in (Event.LOAD_ERROR, *CRASHES) and not _says_nothing(error) for error in statements)
        errors = [
            _explained(error, self.meaning(error))
            for error in statements
            if not (self.is_benign(error) or (has_reason and _says_nothing(error) and "ensors" not in error.line))
        ]
        if log.edge_tpu.failure:
            errors.append(ExplainedError(Event.COMPILER_ERROR, log.edge_tpu.failure, log.edge_tpu.failure_meaning, 1))
        if not errors and not log.has(Event.LISTED_REFUSAL, Event.OPERATOR_REFUSED):
            reason = "the application's exception does not say why the delegate could not be applied"
            errors += [_explained(statement, reason) for statement in log.statements_of(Event.NOT_APPLIED)]
        results = (Event.LISTED_REFUSAL, Event.MEASURED, Event.OWN_COUNT)
        if errors:  # if nothing that is known says why, the log's own words have to
            is_unexplained = all(error.kind in (Event.BENCHMARK_FAILED, *CRASHES) or _says_nothing(error) for error in errors)
        else:
            is_unexplained = not (log.replacements or log.run_orders or log.summaries or log.has(*results))
        known = {error.line for error in errors}
        errors += [
            _explained(plain, "", plain.kind if plain.values["severity"] else Event.UNSURE_ERROR)
            for plain in log.plain_errors
            if plain.line not in known
        ]
        return tuple([error for error in errors if is_unexplained or error.printed_by or error.kind not in _PLAIN])

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield the notable lines that are not errors, with their meanings."""
        log = self.log
        for statement in log.statements_of(Event.NOT_REGISTERED, Event.FAILURE, Event.OTHER_ERROR):
            if self.is_benign(statement):
                is_absent = statement.kind == Event.NOT_REGISTERED
                yield statement.line, _absence(statement) if is_absent else self.meaning(statement)
        for statement in log.statements_of(Event.WARNED, Event.NOTED, Event.DEFAULT_LEFT_OUT, Event.ALL_REVERTED):
            yield statement.line, self.meaning(statement)
        if compiled := log.statements_of(Event.COMPILED_PART):
            count = counted(len(compiled), "compiled part")
            yield compiled[-1].line, f"the log names {count}, but does not show whether compiled parts ran"
        for statement in log.statements_of(Event.VERSION_SAID):
            yield statement.line, _version_meaning(statement)
        done = log.statements_of(Event.NPU_DONE)
        for what in dict.fromkeys([line.values["what"] for line in done]):
            own = [line for line in done if line.values["what"] == what]
            graphs = counted(sum([line.times for line in own]), "graph")
            ms = sum([float(line.values["ms"]) * line.times for line in own])
            yield own[-1].line, f"{graphs} {what}, in {ms:,.0f} ms in all"
        if note := long_lines_note(log):
            yield note, ""
        for statement in log.statements_of(Event.MISSING_SERVICE)[:1]:
            yield statement.line, self.meaning(statement)
        is_named = log.replacements or log.created or log.parameters or log.flags
        who_says = log.statements_of(Event.LISTED_REFUSALS, Event.SPLIT)
        if who_says and not is_named and self._may_be_accelerator:
            who = f"LiteRT 2's graphics accelerator ({GRAPHICS_ACCELERATOR})"
            yield who_says[0].line, f"this line can also come from {who}; the log does not show which delegate printed it"

    @property
    def _may_be_accelerator(self) -> bool:
        log = self.log
        delegates = {delegate.name for name in names_in(log) if (delegate := speaker(log, name)) is not None}
        # Only the older GPU delegate gives reasons with this prefix.
        is_certain = any(reason.startswith("OP is supported, but ") for _, reason in log.listed_refusals)
        return (
            not (is_certain or log.is_of_compiled_model or log.is_old)
            and len(delegates) == 1
            and delegates.isdisjoint(ACCELERATORS.values())
            and not log.has(Event.NODE_ERROR, Event.PREPARATION_ERROR, Event.KERNELS, Event.NOT_APPLIED)
        )

    def is_benign(self, statement: Statement) -> bool:
        """Return whether an error line is harmless: about hooks for profiling, or about an accelerator that is not needed."""
        if statement.kind == Event.FAILURE and "Failed to get hooks" in statement.line:
            return True
        if statement.kind == Event.IMMUTABLE_ERROR:  # a second application of the delegate that is applied by default
            return self.log.has(Event.DEFAULT_LEFT_OUT)
        if statement.kind == Event.OTHER_ERROR and "Dispatch library directory" in statement.line:
            return not (_NPU.casefold() in self._requested or self._is_dispatch_needed)
        if statement.kind != Event.NOT_REGISTERED or "DispatchLibraryDir" in statement.line:
            return False
        accelerator = accelerator_of(statement.values["name"])
        if accelerator in self._registered:
            return True  # another environment of the process registered the accelerator
        if accelerator.casefold() in self._requested:
            return False
        return not (accelerator == _NPU and self._is_dispatch_needed)

    @cached_property
    def _is_dispatch_needed(self) -> bool:
        errors = self.log.statements_of(Event.FAILURE, Event.NODE_ERROR, Event.CUSTOM_ERROR)
        return any(DISPATCH in plain_name(error.values.get("op", "") + error.line) for error in errors)

    def meaning(self, error: Statement) -> str:
        """Return the meaning of a line, or "" if the meaning is unknown."""
        if "meaning" in error.values:
            return error.values["meaning"]
        if error.kind in BY_VALUES:
            return BY_VALUES[error.kind](self, error)
        words = meaning_by_words(Event.FAILURE if error.kind == Event.WARNED else error.kind, error.line)
        return words or (engine_meaning(error.line) if error.kind in _OF_ENGINES else "") or KINDS[error.kind].meaning

    def _builtin(self, error: Statement) -> str:
        op = error.values["op"]
        if self._is_of_micro:
            function = BUILTIN_FUNCTIONS.get(op)
            call = f": call resolver.{function}()" if function else ", and the runtime has no kernel for it"
            return f"the resolver of the application, which uses TensorFlow Lite Micro, lacks {op}{call}"
        version = f" in version {error.values['version']}" if "version" in error.values else ""
        return f"the runtime has no {op}{version}: it is older than the model or was built without this operator"

    @cached_property
    def _is_of_micro(self) -> bool:
        return self.log.is_of_micro

    def _custom(self, error: Statement) -> str:
        if "op" in error.values:
            op = error.values["op"]
            known = other_name(op)
            needs = f"; {op} is a compiled part of the model, and needs {known}" if known else ""
            return f"the application did not register the custom operator {op}{needs}"
        is_of_edge_tpu = any(other_name(name) == other_name(EDGE_TPU) for name in names_in(self.log))
        pair = ": libedgetpu and TensorFlow Lite do not match, so use a pair that was built from the same version"
        return f"the runtime ran an operator that nothing implements{pair if is_of_edge_tpu else ''}"

    def _api(self, error: Statement) -> str:
        code, doing = error.values["code"], error.values.get("doing", "")
        if code not in _CODES and len(code) > 1 and any(known.startswith(code) for known in _CODES):
            return f"{code}: the line is cut off, so the code is incomplete"
        if code.isdigit() and int(code) < len(_NUMBERS):
            code = _PREFIX + _NUMBERS[int(code)]
        meaning = _CODES.get(code, "the meaning of this code is unknown")
        call = next(filter(None, [meaning_by_words(kind, doing) for kind in ("call", "building-call", "running-call")]), "")
        return f"{code}: {meaning}; returned by {call}" if call else f"{code}: {meaning}"

    def _node(self, error: Statement) -> str:
        """Return the meaning of a failed node. The indices of delegate kernels follow the indices of the model's nodes."""
        op, node, stage = error.values["op"], int(error.values["node"]), error.values["stage"]
        if op == "STABLEHLO_COMPOSITE":
            return (
                f"node {node} is a composite that no delegate took, and its body could not be {stage}d on the CPU; only an "
                "accelerator that knows the composite can run the model"
            )
        failed = "failed when it ran" if stage == "invoke" else f"failed to {stage}"
        delegate = None if "micro" in error.values else delegate_named(op)
        if delegate is None:
            known = other_name(op)
            return f"node {node} {failed}; {f'{op} belongs to {known}' if known else 'an error before this line may say why'}"
        before = self._kernels_before(max(error.places, default=0) or math.inf, op, delegate)
        fitting = [own for own in before or () if own.nodes is not None and 0 <= node - own.nodes < own.most]
        if before is None or len(fitting) != 1:
            text = f"node {node} is a kernel of the delegate; it {failed}"
            numbered = f"; kernels are numbered after the model's nodes, so the model has at most {counted(node, 'node')}"
            return text + numbered if before is None else text
        nodes = fitting[0].nodes or 0
        number = node - nodes + 1
        kernel = f"kernel {number} of all delegates" if len(fitting[0].names) > 1 else f"the delegate's kernel {number}"
        return f"node {node} is {kernel} (the model's {nodes} nodes are numbered first, then the kernels); it {failed}"

    def _kernels_before(self, place: float, op: str, delegate: Delegate) -> Sequence[_Kernels] | None:
        """Return the kernels of each subgraph before a line. None if no number of nodes is known, () if there are very many."""
        if len(self._kernels) > _MOST_SUBGRAPHS:
            return ()
        places = [bisect_right(known, place, key=lambda kernels: kernels.place) for known in self._kernels.values()]
        before = [known[number - 1] for number, known in zip(places, self._kernels.values(), strict=True) if number]
        if any(kernels.nodes is not None for kernels in before):
            return before
        is_alone = all(known[-1].names <= {op} for known in self._kernels.values())
        total = self._own_totals.get(delegate.name) if is_alone else None
        return None if total is None else [_Kernels(0, total, math.inf, frozenset({op}))]

    @cached_property
    def _kernels(self) -> Mapping[int | None, list[_Kernels]]:
        kernels: dict[int | None, list[_Kernels]] = {}
        for line in self.log.replacements:
            known = kernels.setdefault(line.subgraph, [])
            _, nodes, most, names = known[-1] if known else _Kernels(0, None, 0, frozenset())
            nodes = nodes if line.total is None else max(nodes or 0, line.total)
            most += math.inf if line.partitions is None else line.partitions
            known.append(_Kernels(line.place, nodes, most, names if len(names) > 1 else names | {line.kernel}))
        return kernels

    @cached_property
    def _own_totals(self) -> Mapping[str, int]:
        totals = {}
        for statement in (*self.log.statements_of(Event.OWN_COUNT), *self.log.statements_of(Event.SPLIT)):
            if (delegate := delegate_named(statement.values["name"])) is not None:
                totals[delegate.name] = sum(statement.numbers(*(["total"] if "total" in statement.values else ["taken", "left"])))
        return totals


BY_VALUES: Mapping[str, Callable[[LogMeanings, Statement], str]] = {
    Event.API_ERROR: LogMeanings._api,
    Event.BUILTIN_ERROR: LogMeanings._builtin,
    Event.CUSTOM_ERROR: LogMeanings._custom,
    Event.NODE_ERROR: LogMeanings._node,
    Event.PREPARATION_ERROR: lambda _, error: (
        f"the driver could not prepare a model: {_CODES.get(error.values['code'], error.values['code'])}"
    ),
}


def _explained(error: Statement, meaning: str, kind: str = "") -> ExplainedError:
    node = int(error.values["node"]) if "node" in error.values else None
    printed_by, values = ((), ()) if error.source is None else (error.source.printed_by, error.source.values)
    return ExplainedError(kind or error.kind, error.line, meaning, error.times, node, printed_by, values)


def _says_nothing(error: Statement | ExplainedError) -> bool:
    return error.kind in (Event.LOAD_ERROR, Event.LIBRARY_ERROR) and FORMS["unsaid"].search(error.line) is not None


def _absence(statement: Statement) -> str:
    accelerator = accelerator_of(statement.values["name"])
    if accelerator == _NPU:
        return "not an error by itself: this environment has no directory of dispatch libraries, so only the NPU is unavailable"
    return f"not an error by itself: the {accelerator} accelerator was not found; other accelerators can still be used"


def _version_meaning(statement: Statement) -> str:
    if statement.values["what"] != "Neuron":
        return ""
    version = tuple(int(part) for part in statement.values["version"].split("."))
    closed = ".".join(map(str, _NEURON_CLOSED))
    if version >= _NEURON_CLOSED:
        return f"from version {closed} on, MediaTek's compiler decides which operators it takes, by rules that are not public"
    known = plugin_of("mediatek")
    return f"before version {closed}, the plugin itself decides which operators it takes, by the rules of {known}"


def is_while_running(statement: Statement) -> bool:
    """Return whether an error occurred while the model ran, that is, after the delegate was applied."""
    values = statement.values
    if statement.kind == Event.NODE_ERROR:
        return values["stage"] == "invoke"
    if statement.kind == Event.API_ERROR:
        return bool(meaning_by_words("running-call", values.get("doing", "")))
    return "running" in values or values.get("stage") == "Invoke"


def is_while_building(statement: Statement) -> bool:
    """Return whether the NNAPI runtime refused a model while it was being built, before any driver got it."""
    return statement.kind == Event.API_ERROR and bool(meaning_by_words("building-call", statement.values.get("doing", "")))


def has_run(log: DeviceLog) -> bool | None:
    """Return whether the model of a log with an error ran to its end, or None if the log does not show it."""
    has_times = log.times.warmup_ms is not None or log.times.inference_ms is not None
    if has_times or log.statements_of(Event.MEASURED, Event.EXECUTED):
        return True
    if log.statements_of(*CRASHES, Event.LOAD_ERROR, Event.BENCHMARK_FAILED) or any(map(is_while_running, log.errors)):
        return False
    return True if log.statements_of(Event.ALL_REVERTED) else None


def cause_of(errors: Sequence[ExplainedError]) -> ExplainedError | None:
    """Return the most specific error, the first of equally specific ones, or None if no error names a cause."""
    ranks = [
        (rank, not error.meaning, number)
        for number, error in enumerate(errors)
        if (rank := KINDS[error.kind].rank) is not None and FORMS["no-cause"].search(error.line) is None
    ]
    return errors[min(ranks)[-1]] if ranks else None
