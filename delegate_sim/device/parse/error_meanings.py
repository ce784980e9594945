"""Explain the error lines in a log, without the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...delegates.registry import ACCELERATORS, EDGE_TPU, GRAPHICS_ACCELERATOR, plugin_of
from ...foundation.columns import Declared
from ...llm.error_meanings import engine_meaning
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
from .kinds import KINDS, Event
from .known_lines import Statement
from .log_contents import DeviceLog, Replacement, long_lines_note
from .tables import MEANINGS, meaning_by_words

_HOOKS = "Failed to get hooks"
_PREFIX = "ANEURALNETWORKS_"
_COMPOSITE = "STABLEHLO_COMPOSITE"
_ONLY_GPU = "OP is supported, but "
"""The prefix of the older GPU delegate's reasons. No other delegate uses it."""
_NPU = "NPU"
_MEDIATEK = "mediatek"
_NEURON_CLOSED = (8, 2, 24)
"""The first version of MediaTek's Neuron in which the compiler decides about operators (``neuron_adapter_api.h``)."""
_CODES = MEANINGS["code"]
_NUMBERS = ("NO_ERROR", *[name.removeprefix(_PREFIX) for name in _CODES if name.startswith(_PREFIX)])
"""The result codes, in the order of their numbers in ``NeuralNetworks.h``."""
_OF_MICRO = "registration from op code"
"""Words of a line that only TensorFlow Lite Micro prints."""
_NO_REASON = "the application's exception does not say why the delegate could not be applied"


@dataclass(frozen=True, slots=True)
class ExplainedError(Declared):
    """An error in a log: the line, its meaning, how many times it is in the log, and the node that it names."""

    kind: str
    line: str
    meaning: str
    times: int
    node: int | None


_OF_ENGINES = frozenset({Event.FAILURE, Event.WARNED, Event.OTHER_ERROR, Event.RUNTIME_ERROR, Event.LOAD_ERROR})
"""The kinds of errors that LiteRT-LM prints too."""


def explained_errors(log: DeviceLog) -> tuple[ExplainedError, ...]:
    """Return the distinct errors in a log, each with its meaning."""
    errors = []
    has_reason = any(error.kind not in (Event.LOAD_ERROR, Event.CRASH) for error in log.errors)
    for error in log.errors:
        if is_benign(error, log) or (
            has_reason
            and error.kind == Event.LOAD_ERROR
            and _UNSAID.search(error.line) is not None
            and "ensors" not in error.line
        ):
            continue
        node = error.values.get("node")
        errors.append(
            ExplainedError(error.kind, error.line, _meaning(error, log), error.times, None if node is None else int(node))
        )
    if log.edge_tpu.failure:
        errors.append(ExplainedError(Event.COMPILER_ERROR, log.edge_tpu.failure, log.edge_tpu.failure_meaning, 1, None))
    if not errors and not log.listed_refusals and not log.statements_of(Event.OPERATOR_REFUSED):
        errors += [
            ExplainedError(statement.kind, statement.line, _NO_REASON, statement.times, None)
            for statement in log.statements_of(Event.NOT_APPLIED)
        ]
    tables = (log.replacements, log.run_orders, log.summaries, log.listed_refusals)
    has_result = any(tables) or bool(log.statements_of(Event.MEASURED, Event.OWN_COUNT))
    if all(map(_is_consequence, errors)) if errors else not has_result:
        # nothing that is known says why, so the log's own words have to
        errors += [
            ExplainedError(plain.kind if plain.values["severity"] else Event.UNSURE_ERROR, plain.line, "", plain.times, None)
            for plain in log.plain_errors
        ]
    return tuple(errors)


def _is_consequence(error: ExplainedError) -> bool:
    """Return whether an error follows from another one, and does not say from which."""
    return error.kind in (Event.BENCHMARK_FAILED, Event.CRASH) or (
        error.kind == Event.LOAD_ERROR and _UNSAID.search(error.line) is not None
    )


def is_benign(statement: Statement, log: DeviceLog) -> bool:
    """Return whether an error line is harmless: about hooks for profiling, or about an accelerator that is not needed.

    An accelerator is needed if the application requests it, or if the model has parts that were compiled for it.
    """
    if statement.kind == Event.FAILURE and _HOOKS in statement.line:
        return True
    if statement.kind == Event.IMMUTABLE_ERROR:  # a second application of the delegate that is applied by default
        return bool(log.statements_of(Event.DEFAULT_LEFT_OUT))
    if statement.kind != Event.NOT_REGISTERED or "DispatchLibraryDir" in statement.line:
        return False
    accelerator = accelerator_of(statement.values["name"])
    if accelerator in registered_accelerators(log):
        return True  # another environment of the process registered the accelerator
    if accelerator.casefold() in requested_accelerators(log):
        return False
    is_needed = any(
        DISPATCH in plain_name(statement.values.get("op", "") + statement.line)
        for statement in log.statements_of(Event.FAILURE, Event.NODE_ERROR, Event.CUSTOM_ERROR)
    )
    return not (accelerator == _NPU and is_needed)


def explained_notes(log: DeviceLog) -> tuple[tuple[str, str], ...]:
    """Return the notable lines in a log that are not errors, with their meanings."""
    told = [statement for kind in (Event.NOT_REGISTERED, Event.FAILURE) for statement in log.statements_of(kind)]
    told = [statement for statement in told if is_benign(statement, log)]
    told += log.statements_of(Event.WARNED, Event.NOTED, Event.DEFAULT_LEFT_OUT)
    notes = [
        (statement.line, _absence(statement) if statement.kind == Event.NOT_REGISTERED else _meaning(statement, log))
        for statement in told
    ]
    if compiled := log.statements_of(Event.COMPILED_PART):
        count = f"{len(compiled)} compiled part{'s' if len(compiled) > 1 else ''}"
        notes.append((compiled[-1].line, f"the log names {count}, but does not show whether compiled parts ran"))
    notes += [(statement.line, _version_meaning(statement)) for statement in log.statements_of(Event.VERSION_SAID)]
    notes += [(note, "") for note in [long_lines_note(log)] if note]
    notes += [(statement.line, _meaning(statement, log)) for statement in log.statements_of(Event.MISSING_SERVICE)[:1]]
    is_named = log.replacements or log.created or log.parameters or log.flags
    if not is_named and log.statements_of(Event.LISTED_REFUSALS, Event.SPLIT):
        notes += _who_says_gpu(log)
    return tuple(dict.fromkeys(notes))


def _who_says_gpu(log: DeviceLog) -> list[tuple[str, str]]:
    """Return a note if two delegates may have printed the list of refused operators."""
    statement = log.statements_of(Event.LISTED_REFUSALS, Event.SPLIT)[0]
    delegates = {delegate.name for name in names_in(log) if (delegate := speaker(log, name)) is not None}
    is_certain = any(reason.startswith(_ONLY_GPU) for _, reason in log.listed_refusals) or log.is_of_compiled_model or log.is_old
    if (
        is_certain
        or len(delegates) != 1
        or not delegates.isdisjoint(ACCELERATORS.values())
        or log.statements_of(Event.NODE_ERROR, Event.PREPARATION_ERROR, Event.KERNELS, Event.NOT_APPLIED)
    ):
        return []
    return [
        (
            statement.line,
            f"this line can also come from LiteRT 2's graphics accelerator ({GRAPHICS_ACCELERATOR}); the log does not show "
            "which delegate printed it",
        )
    ]


def _absence(statement: Statement) -> str:
    accelerator = accelerator_of(statement.values["name"])
    if accelerator == _NPU:
        return "not an error by itself: this environment has no directory of dispatch libraries, so only the NPU is unavailable"
    return f"not an error by itself: no library of the {accelerator} accelerator was found; other accelerators can still be used"


def _version_meaning(statement: Statement) -> str:
    if statement.values["what"] != "Neuron":
        return ""
    version = tuple(int(part) for part in statement.values["version"].split("."))
    closed = ".".join(map(str, _NEURON_CLOSED))
    if version >= _NEURON_CLOSED:
        return f"from version {closed} on, MediaTek's compiler decides which operators it takes, by rules that are not public"
    return f"before version {closed}, the plugin itself decides which operators it takes, by the rules of {plugin_of(_MEDIATEK)}"


def is_while_running(statement: Statement) -> bool:
    """Return whether an error occurred while the model ran, that is, after the delegate was applied."""
    values = statement.values
    if statement.kind == Event.NODE_ERROR:
        return values["stage"] == "invoke"
    if statement.kind == Event.API_ERROR:
        return bool(meaning_by_words("running-call", values.get("doing", "")))
    return "running" in values or values.get("stage") == "Invoke"


_UNSAID = re.compile(r"llocateTensors|allocate tensors|model allocation|tensor allocations|nterpreter")
"""Matches errors about the model that do not say what is wrong."""
_NO_CAUSES = ("is not initialized", "apply compiler plugins", "Traceback (most recent")
"""Words in errors that follow from another error, and in errors after which the runtime continues."""


def cause_of(errors: Sequence[ExplainedError]) -> ExplainedError | None:
    """Return the likeliest cause of all errors: the most specific error. Of equally specific errors, return the first.

    Return None if no error names a cause.
    """
    ranks = [
        (rank, not error.meaning, number)
        for number, error in enumerate(errors)
        if (rank := KINDS[error.kind].rank) is not None and not any(words in error.line for words in _NO_CAUSES)
    ]
    return errors[min(ranks)[-1]] if ranks else None


def _meaning(error: Statement, log: DeviceLog) -> str:
    """Return the meaning of an error, or "" if the meaning is unknown."""
    values = error.values
    if "meaning" in values:
        return values["meaning"]
    if error.kind in _BY_VALUES:
        return _BY_VALUES[error.kind](error, log)
    words = meaning_by_words(Event.FAILURE if error.kind == Event.WARNED else error.kind, error.line)
    return words or (engine_meaning(error.line) if error.kind in _OF_ENGINES else "") or KINDS[error.kind].meaning


def _builtin_meaning(error: Statement, log: DeviceLog) -> str:
    version = f" in version {error.values['version']}" if "version" in error.values else ""
    if any(_OF_MICRO in other.line for other in log.errors):
        function = BUILTIN_FUNCTIONS.get(error.values["op"])
        call = f": call resolver.{function}()" if function else ", and the runtime has no kernel for it"
        return f"the resolver of the application, which uses TensorFlow Lite Micro, lacks {error.values['op']}{call}"
    return f"the runtime has no {error.values['op']}{version}: it is older than the model or was built without this operator"


def _preparation_meaning(error: Statement, log: DeviceLog) -> str:
    return f"the driver could not prepare a model: {_CODES.get(error.values['code'], error.values['code'])}"


def _custom_meaning(error: Statement, log: DeviceLog) -> str:
    if "op" in error.values:
        op = error.values["op"]
        known = other_name(op)
        needs = f"; {op} is a compiled part of the model, and needs {known}" if known else ""
        return f"the application did not register the custom operator {op}{needs}"
    is_tpu = any(other_name(name) == other_name(EDGE_TPU) for name in names_in(log))
    pair = ": libedgetpu and TensorFlow Lite do not match, so use a pair that was built from the same version"
    return f"the runtime ran an operator that nothing implements{pair if is_tpu else ''}"


def _api_meaning(error: Statement, log: DeviceLog) -> str:
    code, doing = error.values["code"], error.values.get("doing", "")
    if code not in _CODES and len(code) > 1 and any(known.startswith(code) for known in _CODES):
        return f"{code}: the line is cut off, so the code is incomplete"
    if code.isdigit() and int(code) < len(_NUMBERS):
        code = _PREFIX + _NUMBERS[int(code)]
    meaning = _CODES.get(code, "the meaning of this code is unknown")
    call = meaning_by_words("call", doing) or meaning_by_words("running-call", doing)
    return f"{code}: {meaning}; returned by {call}" if call else f"{code}: {meaning}"


def _node_meaning(error: Statement, log: DeviceLog) -> str:
    """Return the meaning of a failed node. The indices of delegate kernels follow the indices of the model's nodes."""
    op, node, stage = error.values["op"], int(error.values["node"]), error.values["stage"]
    if op == _COMPOSITE:
        return (
            f"node {node} is a composite that no delegate took, and its body could not be {stage}d on the CPU; only an "
            "accelerator that knows the composite can run the model"
        )
    if delegate_named(op) is None:
        known = other_name(op)
        why = f"{op} belongs to {known}" if known else "an error before this line may say why"
        return f"node {node} {_failed(stage)}; {why}"
    kernel = _kernel_number(error, log)
    if kernel is not None:
        return f"node {node} is {kernel}; it {_failed(stage)}"
    if _totals_before(log, error):
        return f"node {node} is a kernel of the delegate; it {_failed(stage)}"
    return (
        f"node {node} is a kernel of the delegate; it {_failed(stage)}; kernels are numbered after the model's nodes, so "
        f"the model has at most {node} nodes"
    )


_BY_VALUES: Mapping[str, Callable[[Statement, DeviceLog], str]] = {
    Event.API_ERROR: _api_meaning,
    Event.BUILTIN_ERROR: _builtin_meaning,
    Event.CUSTOM_ERROR: _custom_meaning,
    Event.NODE_ERROR: _node_meaning,
    Event.PREPARATION_ERROR: _preparation_meaning,
}
"""The functions that explain errors with the values in their lines, by kind of error."""


def _kernel_number(error: Statement, log: DeviceLog) -> str | None:
    """Return a text that says which delegate kernel a failed node is, or None if the log does not show this.

    The indices of all delegates' kernels follow the indices of the subgraph's own nodes, in the order of creation.
    """
    node = int(error.values["node"])
    before = _before(log, error)
    fitting = []
    for subgraph, total in _totals_before(log, error).items():
        lines = [replacement for replacement in before if replacement.subgraph == subgraph]
        # There are at most as many kernels as partitions.
        most = sum([replacement.partitions or node for replacement in lines]) if lines else node
        if total <= node < total + most:
            fitting.append((total, len({replacement.kernel for replacement in lines}) > 1))
    if len(fitting) != 1:
        return None
    total, has_several = fitting[0]
    whose = f"kernel {node - total + 1} of all delegates" if has_several else f"the delegate's kernel {node - total + 1}"
    return f"{whose} (the model's {total} nodes are numbered first, then the kernels)"


def _before(log: DeviceLog, error: Statement) -> list[Replacement]:
    last = max(error.places, default=0)
    return [replacement for replacement in log.replacements if not last or replacement.place <= last]


def _totals_before(log: DeviceLog, error: Statement) -> dict[int | None, int]:
    """For each subgraph, return the number of nodes before any delegate was applied, if the log shows it."""
    totals: dict[int | None, int] = {}
    for replacement in _before(log, error):
        if replacement.total is not None:
            totals[replacement.subgraph] = max(totals.get(replacement.subgraph, 0), replacement.total)
    if totals:
        return totals
    op = error.values["op"]
    if any(replacement.kernel != op for replacement in log.replacements):
        return {}
    own = [int(count.values["total"]) for count in log.statements_of(Event.OWN_COUNT) if _is_same(count, op)]
    own += [
        int(statement.values.get("taken", "0")) + int(statement.values["left"])
        for statement in log.statements_of(Event.SPLIT)
        if _is_same(statement, op)
    ]
    return {None: own[-1]} if own else {}


def _failed(stage: str) -> str:
    return "failed when it ran" if stage == "invoke" else f"failed to {stage}"


def _is_same(statement: Statement, kernel: str) -> bool:
    name = statement.values["name"]
    return plain_name(name) == plain_name(kernel) or delegate_named(name) is delegate_named(kernel) is not None
