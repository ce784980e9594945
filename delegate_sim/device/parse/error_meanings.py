"""Explain the error lines in a log, without the model."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...delegates.registry import ACCELERATORS, GRAPHICS_ACCELERATOR, plugin_of
from ...foundation.columns import Declared
from ...llm.report import engine_meaning
from ...micro.resolver import BUILTIN_FUNCTIONS
from .delegate_identity import accelerator_of, delegate_named, names_in, other_name, speaker
from .kinds import KINDS, Event
from .known_lines import Statement
from .log_contents import DeviceLog, long_lines_note
from .log_facts import LogFacts
from .source_statements import PrintedValue, source_statement
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
_NO_REASON = "the application's exception does not say why the delegate could not be applied"


@dataclass(frozen=True, slots=True)
class ExplainedError(Declared):
    """An error in a log.

    ``printed_by`` names the components whose source code may print the line, and ``values`` are the fields of the line. Both are
    empty if the known sources do not have the line.
    """

    kind: str
    line: str
    meaning: str
    times: int
    node: int | None = None
    printed_by: tuple[str, ...] = ()
    values: tuple[PrintedValue, ...] = ()


_PLAIN = (Event.PLAIN_ERROR, Event.UNSURE_ERROR)
"""The kinds of errors about which nothing is known but their words."""
_OF_ENGINES = frozenset({Event.FAILURE, Event.WARNED, Event.OTHER_ERROR, Event.RUNTIME_ERROR, Event.LOAD_ERROR})
"""The kinds of errors that LiteRT-LM prints too."""


def explained_errors(log: DeviceLog) -> tuple[ExplainedError, ...]:
    """Return the distinct errors in a log, each with its meaning."""
    errors = []
    facts, statements = LogFacts(log), log.errors
    has_reason = any(error.kind not in (Event.LOAD_ERROR, Event.CRASH) for error in statements)
    for error in statements:
        if is_benign(error, facts) or (
            has_reason
            and error.kind == Event.LOAD_ERROR
            and _UNSAID.search(error.line) is not None
            and "ensors" not in error.line
        ):
            continue
        node = error.values.get("node")
        errors.append(
            ExplainedError(error.kind, error.line, _meaning(error, facts), error.times, None if node is None else int(node))
        )
    if log.edge_tpu.failure:
        errors.append(ExplainedError(Event.COMPILER_ERROR, log.edge_tpu.failure, log.edge_tpu.failure_meaning, 1))
    if not errors and not log.listed_refusals and not log.statements_of(Event.OPERATOR_REFUSED):
        errors += [
            ExplainedError(statement.kind, statement.line, _NO_REASON, statement.times)
            for statement in log.statements_of(Event.NOT_APPLIED)
        ]
    tables = (log.replacements, log.run_orders, log.summaries, log.listed_refusals)
    has_result = any(tables) or bool(log.statements_of(Event.MEASURED, Event.OWN_COUNT))
    is_unexplained = all(map(_is_consequence, errors)) if errors else not has_result
    for plain in log.plain_errors:
        kind = plain.kind if plain.values["severity"] else Event.UNSURE_ERROR
        errors.append(ExplainedError(kind, plain.line, "", plain.times))
    attributed = [_with_component(error) for error in errors]
    # If nothing that is known says why, the log's own words have to.
    return tuple([error for error in attributed if is_unexplained or error.printed_by or error.kind not in _PLAIN])


def _with_component(error: ExplainedError) -> ExplainedError:
    known = source_statement(error.line)
    return error if known is None else replace(error, printed_by=known.printed_by, values=known.values)


def _is_consequence(error: ExplainedError) -> bool:
    """Return whether an error follows from another one, and does not say from which."""
    return error.kind in (Event.BENCHMARK_FAILED, Event.CRASH) or (
        error.kind == Event.LOAD_ERROR and _UNSAID.search(error.line) is not None
    )


def is_benign(statement: Statement, facts: LogFacts) -> bool:
    """Return whether an error line is harmless: about hooks for profiling, or about an accelerator that is not needed.

    An accelerator is needed if the application requests it, or if the model has parts that were compiled for it.
    """
    if statement.kind == Event.FAILURE and _HOOKS in statement.line:
        return True
    if statement.kind == Event.IMMUTABLE_ERROR:  # a second application of the delegate that is applied by default
        return facts.has_default_left_out
    if statement.kind != Event.NOT_REGISTERED or "DispatchLibraryDir" in statement.line:
        return False
    accelerator = accelerator_of(statement.values["name"])
    if accelerator in facts.registered:
        return True  # another environment of the process registered the accelerator
    if accelerator.casefold() in facts.requested:
        return False
    return not (accelerator == _NPU and facts.is_dispatch_needed)


def explained_notes(log: DeviceLog) -> tuple[tuple[str, str], ...]:
    """Return the notable lines in a log that are not errors, with their meanings."""
    told = [statement for kind in (Event.NOT_REGISTERED, Event.FAILURE) for statement in log.statements_of(kind)]
    facts = LogFacts(log)
    told = [statement for statement in told if is_benign(statement, facts)]
    told += log.statements_of(Event.WARNED, Event.NOTED, Event.DEFAULT_LEFT_OUT, Event.ALL_REVERTED)
    notes = [
        (statement.line, _absence(statement) if statement.kind == Event.NOT_REGISTERED else _meaning(statement, facts))
        for statement in told
    ]
    if compiled := log.statements_of(Event.COMPILED_PART):
        count = f"{len(compiled)} compiled part{'s' if len(compiled) > 1 else ''}"
        notes.append((compiled[-1].line, f"the log names {count}, but does not show whether compiled parts ran"))
    notes += [(statement.line, _version_meaning(statement)) for statement in log.statements_of(Event.VERSION_SAID)]
    notes += [(note, "") for note in [long_lines_note(log)] if note]
    notes += [(statement.line, _meaning(statement, facts)) for statement in log.statements_of(Event.MISSING_SERVICE)[:1]]
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


def has_run(log: DeviceLog) -> bool | None:
    """Return whether the model of a log with an error ran to its end, or None if the log does not show it."""
    has_times = log.times.warmup_ms is not None or log.times.inference_ms is not None
    if has_times or log.statements_of(Event.MEASURED, Event.EXECUTED):
        return True
    if log.statements_of(Event.CRASH, Event.LOAD_ERROR, Event.BENCHMARK_FAILED) or any(map(is_while_running, log.errors)):
        return False
    return True if log.statements_of(Event.ALL_REVERTED) else None


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


def _meaning(error: Statement, facts: LogFacts) -> str:
    """Return the meaning of an error, or "" if the meaning is unknown."""
    values = error.values
    if "meaning" in values:
        return values["meaning"]
    if error.kind in _BY_VALUES:
        return _BY_VALUES[error.kind](error, facts)
    words = meaning_by_words(Event.FAILURE if error.kind == Event.WARNED else error.kind, error.line)
    return words or (engine_meaning(error.line) if error.kind in _OF_ENGINES else "") or KINDS[error.kind].meaning


def _builtin_meaning(error: Statement, facts: LogFacts) -> str:
    version = f" in version {error.values['version']}" if "version" in error.values else ""
    if facts.is_of_micro:
        function = BUILTIN_FUNCTIONS.get(error.values["op"])
        call = f": call resolver.{function}()" if function else ", and the runtime has no kernel for it"
        return f"the resolver of the application, which uses TensorFlow Lite Micro, lacks {error.values['op']}{call}"
    return f"the runtime has no {error.values['op']}{version}: it is older than the model or was built without this operator"


def _preparation_meaning(error: Statement, facts: LogFacts) -> str:
    return f"the driver could not prepare a model: {_CODES.get(error.values['code'], error.values['code'])}"


def _custom_meaning(error: Statement, facts: LogFacts) -> str:
    if "op" in error.values:
        op = error.values["op"]
        known = other_name(op)
        needs = f"; {op} is a compiled part of the model, and needs {known}" if known else ""
        return f"the application did not register the custom operator {op}{needs}"
    pair = ": libedgetpu and TensorFlow Lite do not match, so use a pair that was built from the same version"
    return f"the runtime ran an operator that nothing implements{pair if facts.is_of_edge_tpu else ''}"


def _api_meaning(error: Statement, facts: LogFacts) -> str:
    code, doing = error.values["code"], error.values.get("doing", "")
    if code not in _CODES and len(code) > 1 and any(known.startswith(code) for known in _CODES):
        return f"{code}: the line is cut off, so the code is incomplete"
    if code.isdigit() and int(code) < len(_NUMBERS):
        code = _PREFIX + _NUMBERS[int(code)]
    meaning = _CODES.get(code, "the meaning of this code is unknown")
    call = meaning_by_words("call", doing) or meaning_by_words("running-call", doing)
    return f"{code}: {meaning}; returned by {call}" if call else f"{code}: {meaning}"


def _node_meaning(error: Statement, facts: LogFacts) -> str:
    """Return the meaning of a failed node. The indices of delegate kernels follow the indices of the model's nodes."""
    op, node, stage = error.values["op"], int(error.values["node"]), error.values["stage"]
    if op == _COMPOSITE:
        return (
            f"node {node} is a composite that no delegate took, and its body could not be {stage}d on the CPU; only an "
            "accelerator that knows the composite can run the model"
        )
    delegate = delegate_named(op)
    if delegate is None:
        known = other_name(op)
        why = f"{op} belongs to {known}" if known else "an error before this line may say why"
        return f"node {node} {_failed(stage)}; {why}"
    before = facts.kernels_before(max(error.places, default=0) or math.inf, op, delegate)
    if before is None:
        return (
            f"node {node} is a kernel of the delegate; it {_failed(stage)}; kernels are numbered after the model's nodes, so "
            f"the model has at most {node} nodes"
        )
    fitting = [kernels for kernels in before if kernels.nodes is not None and 0 <= node - kernels.nodes < kernels.most]
    if len(fitting) != 1:
        return f"node {node} is a kernel of the delegate; it {_failed(stage)}"
    nodes = fitting[0].nodes or 0
    whose = "kernel {} of all delegates" if fitting[0].has_several else "the delegate's kernel {}"
    kernel = f"{whose.format(node - nodes + 1)} (the model's {nodes} nodes are numbered first, then the kernels)"
    return f"node {node} is {kernel}; it {_failed(stage)}"


_BY_VALUES: Mapping[str, Callable[[Statement, LogFacts], str]] = {
    Event.API_ERROR: _api_meaning,
    Event.BUILTIN_ERROR: _builtin_meaning,
    Event.CUSTOM_ERROR: _custom_meaning,
    Event.NODE_ERROR: _node_meaning,
    Event.PREPARATION_ERROR: _preparation_meaning,
}
"""The functions that explain errors with the values in their lines, by kind of error."""


def _failed(stage: str) -> str:
    return "failed when it ran" if stage == "invoke" else f"failed to {stage}"
