"""Explain the error lines in a log, without the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...delegates.registry import ACCELERATORS, CPU_LIBRARY_SPEAKER, EDGE_TPU, GRAPHICS_ACCELERATOR, plugin_of
from ...foundation.columns import Declared
from ...llm.error_meanings import engine_meaning
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
from .known_lines import (
    API_ERROR,
    BENCHMARK_FAILED,
    BUILD_ERROR,
    BUILTIN_ERROR,
    CALL_ERROR,
    COMPILED_PART,
    CRASH,
    CUSTOM_ERROR,
    DYNAMIC_ERROR,
    FAILURE,
    FLEX_ERROR,
    HINT_ERROR,
    IMMUTABLE_ERROR,
    KERNEL_ERROR,
    KERNELS,
    LIBRARY_ERROR,
    LISTED_REFUSALS,
    LOAD_ERROR,
    MISSING_SERVICE,
    NODE_ERROR,
    NOT_APPLIED,
    NOT_REGISTERED,
    OPERATOR_REFUSED,
    OTHER_ERROR,
    OWN_COUNT,
    PREPARATION_ERROR,
    RUNTIME_ERROR,
    SPLIT,
    VENDOR_ERROR,
    VERSION_SAID,
    Statement,
)
from .log_contents import DeviceLog, Replacement, long_lines_note

_HOOKS = "Failed to get hooks"
_PREFIX = "ANEURALNETWORKS_"
_COMPOSITE = "STABLEHLO_COMPOSITE"
_ONLY_GPU = "OP is supported, but "
"""The prefix of the older GPU delegate's reasons. No other delegate uses it."""
_NPU = "NPU"
_MEDIATEK = "mediatek"
_NEURON_CLOSED = (8, 2, 24)
"""The first version of MediaTek's Neuron in which the compiler decides about operators (``neuron_adapter_api.h``)."""
_CODES = {
    "ANEURALNETWORKS_OUT_OF_MEMORY": "there is not enough memory",
    "ANEURALNETWORKS_INCOMPLETE": "the model or an operation is not complete",
    "ANEURALNETWORKS_UNEXPECTED_NULL": "a pointer is null, but must not be null",
    "ANEURALNETWORKS_BAD_DATA": "the runtime finds the operands, their types or the order of the calls invalid",
    "ANEURALNETWORKS_OP_FAILED": "the driver could not compile or run the model",
    "ANEURALNETWORKS_BAD_STATE": "the call came at the wrong time",
    "ANEURALNETWORKS_UNMAPPABLE": "the memory cannot be mapped",
    "ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE": "a buffer for an output is too small",
    "ANEURALNETWORKS_UNAVAILABLE_DEVICE": "the device is not available",
    "ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT": "a deadline was missed; another attempt may succeed",
    "ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT": "a deadline was missed; another attempt will miss it too",
    "ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT": "the device ran out of resources for now",
    "ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT": "the device ran out of resources",
    "ANEURALNETWORKS_DEAD_OBJECT": "the process of the driver has died",
    "GENERAL_FAILURE": "the driver gives no reason",
}
_NUMBERS = ("NO_ERROR", *[name.removeprefix(_PREFIX) for name in list(_CODES) if name.startswith(_PREFIX)])
"""The result codes, in the order of their numbers in ``NeuralNetworks.h``."""
_RUNNING = "the model runs"
_CALLS = (
    ("setting new operand value", "ANeuralNetworksModel_setOperandValue", "the model is being built"),
    ("adding operand", "ANeuralNetworksModel_addOperand", "the model is being built"),
    ("adding operation", "ANeuralNetworksModel_addOperation", "the model is being built"),
    ("identifying model inputs", "ANeuralNetworksModel_identifyInputsAndOutputs", "the model is being built"),
    ("finalizing the model", "ANeuralNetworksModel_finish", "the model is being checked as a whole"),
    ("creating", "ANeuralNetworksCompilation_create", "compilation begins"),
    ("completing", "ANeuralNetworksCompilation_finish", "the driver compiles the model"),
    (
        "checking supported operations",
        "ANeuralNetworksModel_getSupportedOperationsForDevices",
        "the driver is asked which operations it accepts",
    ),
    ("running computation", "ANeuralNetworksExecution_startCompute", _RUNNING),
    ("waiting for async computation", "ANeuralNetworksEvent_wait", _RUNNING),
    ("associating", "ANeuralNetworksExecution_setInput", "the model is about to run"),
)
"""API calls: words from the delegate's description of the call, name of the function, stage of the call."""
_MEANINGS = {
    HINT_ERROR: (
        "the application requires that one accelerator takes the whole graph, but the accelerator refuses some operators; "
        "nothing is delegated"
    ),
    DYNAMIC_ERROR: (
        "the delegate does not accept graphs with a tensor whose shape is known only at run time; nothing is delegated"
    ),
    IMMUTABLE_ERROR: "another delegate was already applied to the interpreter; the error before this line says more",
    KERNEL_ERROR: "the delegate could not create the kernel of a partition; the error before this line says why",
    BUILD_ERROR: "the device's driver could not compile a program of the delegate",
    BENCHMARK_FAILED: "benchmark_model ended before it ran the model",
    CRASH: "the process crashed",
    LOAD_ERROR: "the runtime could not load or prepare the model",
    FLEX_ERROR: "the model has TensorFlow operators; link the Flex delegate into the application and apply it",
    NOT_REGISTERED: "the accelerator is not available, so it cannot be applied",
}

_FAILURES = (
    ("No dispatch library", "this directory of the application has no dispatch library of the NPU's vendor"),
    (
        "No usable Dispatch",
        "no dispatch library of the NPU's vendor was found or started, so compiled parts of the model cannot run",
    ),
    ("initialize Dispatch API", "the dispatch library of the NPU's vendor could not be started"),
    ("dispatch delegate kernel", "the compiled part of the model could not be loaded on the NPU"),
    ("load plugin", "a compiler plugin's library could not be loaded, so the plugin compiles nothing"),
    ("NPU islands", "the plugin would create more partitions than the application allows, so it compiles nothing"),
    ("get hooks", "the accelerator provides no hooks for profiling; LiteRT continues without them"),
    ("apply compiler plugins", "no compiler plugin compiled anything; the model runs as it is"),
    ("initialize", "the vendor's runtime could not be started on this device"),
    (
        "restore model from compiled network",
        "MediaTek's runtime does not accept the compiled part, which is for another SoC or another version of Neuron",
    ),
    (
        "context from context binary",
        "the vendor's runtime does not accept the compiled part, which may be for another device or version",
    ),
    ("context", "the vendor's runtime could not set up a compiled part of the model"),
    (
        "create compiled model",
        "CompiledModel is not created; if no other error says why, a node may need the CPU, and the CPU is not among the "
        "accelerators",
    ),
    ("modify graph", "the accelerator could not be applied, so the model was not compiled"),
)
"""Meanings of LiteRT 2's errors, keyed by words in the error line."""

_WHILE_RUNNING = ("verify graph", "execute request")
"""Words in errors of delegates while the model runs.

Some delegates compile a partition only when the model runs for the first time.
"""
_KILLED = "Killed"
_OTHER_ERRORS = (
    (_KILLED, "the system ended the process, often because memory ran out"),
    (
        "requires runtime version",
        "the model was compiled for a newer Edge TPU runtime than the device has: update libedgetpu, or compile the model with "
        "edgetpu_compiler --min_runtime_version",
    ),
    (
        "custom op handler",
        "libedgetpu and TensorFlow Lite use different memory layouts for tensors: use a pair that was built from the same "
        "version",
    ),
    ("prepare for TPU", "the Edge TPU's driver does not accept the compiled part"),
    ("execute request", "the Edge TPU did not finish an inference: it was disconnected, reset or too slow"),
    ("TPU context", "no Edge TPU was opened, so the compiled part cannot run"),
    ("to reshape runtime", "the CPU library could not compute the shapes of its partition from the shapes of the inputs"),
    (f"to create {CPU_LIBRARY_SPEAKER} runtime", "the CPU library does not accept the graph of its partition"),
    (f"to invoke {CPU_LIBRARY_SPEAKER} runtime", "the CPU library failed while the model ran"),
    (
        "verify graph",
        "VeriSilicon's library does not take the partition, which it compiles when the model runs for the first time",
    ),
    ("versions", "the delegate's libraries on the device are of different versions"),
    ("open OpenCL", "the device has no OpenCL that the application can use; the delegate then tries OpenGL"),
    ("Falling back to OpenGL", "OpenCL failed, and the error before this line says why; the delegate tries OpenGL"),
)
"""Meanings of delegates' errors, keyed by words in the error line."""

_VENDOR_ERRORS = (
    ("crashed", "the accelerator's processor crashed, and its results are lost"),
    (
        "load skel",
        "the DSP's library (skel) was not found or does not fit: put the skel library for this chip's DSP into "
        "ADSP_LIBRARY_PATH, in the same version as the other libraries",
    ),
    ("context binary", "the vendor's library does not accept the compiled part, which is for another version or another chip"),
    (
        "14001",
        "the process cannot reach the DSP: the DSP's library (skel) is missing in ADSP_LIBRARY_PATH or is for another chip, or "
        "the application is not allowed to use the DSP",
    ),
    ("_handle", "Qualcomm's library could not be started, so QNN takes no nodes"),
    ("Transport layer", "the process cannot reach the DSP, or the DSP's library (skel) is missing"),
    ("out of range", "an operator names an axis that its tensor does not have in the vendor's layout"),
    ("Setup node", "VeriSilicon's library could not set up this operator of the partition; an earlier line may say why"),
    ("clGetPlatformIDs", "the device has no OpenCL that this process may use"),
)
"""Meanings of the errors of vendors' libraries, keyed by words in the error line."""

_NOT_CREATED, COMPILER_ERROR = "not-created", "compiler-error"
_NO_REASON = "the application's exception does not say why the delegate could not be applied"
_MISSING_DELEGATE = "the delegate is not available on this device, or lacks a library; nothing is applied"


@dataclass(frozen=True, slots=True)
class ExplainedError(Declared):
    """An error in a log: the line, its meaning, how many times it is in the log, and the node that it names."""

    kind: str
    line: str
    meaning: str
    times: int
    node: int | None


_RUNTIME_FAILURES = (
    ("No driver can do", "none of the chosen devices accepts this operation, so nothing is compiled"),
    ("getSupportedOperations", "a driver does not report the operations that it supports, so it gets no operations"),
    ("prepareModelFromCache", "a driver does not accept its cached compilation, so it compiles the model again"),
    ("prepareModel", "a driver could not compile a model"),
    ("Invalid Operation", "the runtime's own validation rejects the operation"),
    ("called on invalid model", "the runtime finds the model invalid as a whole"),
    ("newer what is allowed", "the model needs a higher feature level than the runtime has"),
    ("ANeuralNetworksModel_", "the runtime rejects the model that the delegate builds"),
    ("ANeuralNetworksCompilation_", "the runtime rejects the compilation"),
)
"""Meanings of the errors of Android's NNAPI runtime, keyed by words in the error line."""

_BY_WORDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    FAILURE: _FAILURES,
    OTHER_ERROR: _OTHER_ERRORS,
    RUNTIME_ERROR: _RUNTIME_FAILURES,
    LOAD_ERROR: (),
}
"""The tables of meanings by kind of error. In each table, LiteRT-LM's meanings come last."""


def explained_errors(log: DeviceLog) -> tuple[ExplainedError, ...]:
    """Return the distinct errors in a log, each with its meaning."""
    errors = [ExplainedError(_NOT_CREATED, line, _MISSING_DELEGATE, 1, None) for line in log.not_created]
    for error in log.errors:
        if is_benign(error, log):
            continue
        node = error.values.get("node")
        errors.append(
            ExplainedError(error.kind, error.line, _meaning(error, log), error.times, None if node is None else int(node))
        )
    if log.edge_tpu.failure:
        errors.append(ExplainedError(COMPILER_ERROR, log.edge_tpu.failure, log.edge_tpu.failure_meaning, 1, None))
    if not errors and not log.listed_refusals and not log.statements_of(OPERATOR_REFUSED):
        errors += [
            ExplainedError(statement.kind, statement.line, _NO_REASON, statement.times, None)
            for statement in log.statements_of(NOT_APPLIED)
        ]
    return tuple(errors)


def is_benign(statement: Statement, log: DeviceLog) -> bool:
    """Return whether an error line is harmless: about hooks for profiling, or about an accelerator that is not needed.

    An accelerator is needed if the application requests it, or if the model has parts that were compiled for it.
    """
    if statement.kind == FAILURE and _HOOKS in statement.line:
        return True
    if statement.kind != NOT_REGISTERED or "DispatchLibraryDir" in statement.line:
        return False
    accelerator = accelerator_of(statement.values["name"])
    if accelerator in registered_accelerators(log):
        return True  # another environment of the process registered the accelerator
    if accelerator.casefold() in requested_accelerators(log):
        return False
    is_needed = any(
        DISPATCH in plain_name(statement.values.get("op", "") + statement.line)
        for statement in log.statements_of(FAILURE, NODE_ERROR, CUSTOM_ERROR)
    )
    return not (accelerator == _NPU and is_needed)


def explained_notes(log: DeviceLog) -> tuple[tuple[str, str], ...]:
    """Return the notable lines in a log that are not errors, with their meanings."""
    notes = [
        (statement.line, _absence(statement)) for statement in log.statements_of(NOT_REGISTERED) if is_benign(statement, log)
    ]
    notes += [(statement.line, _meaning(statement, log)) for statement in log.statements_of(FAILURE) if is_benign(statement, log)]
    compiled = log.statements_of(COMPILED_PART)
    if compiled:
        count = f"{len(compiled)} compiled part{'s' if len(compiled) > 1 else ''}"
        notes.append((compiled[-1].line, f"the log names {count}, but does not show whether compiled parts ran"))
    notes += [(statement.line, _version_meaning(statement)) for statement in log.statements_of(VERSION_SAID)]
    if note := long_lines_note(log):
        notes.append((note, ""))
    services = log.statements_of(MISSING_SERVICE)
    if services:
        notes.append((services[0].line, "the vendor's library needs a system service (HAL) that this device does not have"))
    if log.statements_of(LISTED_REFUSALS, SPLIT) and not (log.replacements or log.created or log.parameters or log.flags):
        notes += _who_says_gpu(log)
    return tuple(dict.fromkeys(notes))


def _who_says_gpu(log: DeviceLog) -> list[tuple[str, str]]:
    """Return a note if two delegates may have printed the list of refused operators."""
    statement = log.statements_of(LISTED_REFUSALS, SPLIT)[0]
    delegates = {delegate.name for name in names_in(log) if (delegate := speaker(log, name)) is not None}
    is_certain = any(reason.startswith(_ONLY_GPU) for _, reason in log.listed_refusals) or log.is_of_compiled_model or log.is_old
    if (
        is_certain
        or len(delegates) != 1
        or not delegates.isdisjoint(ACCELERATORS.values())
        or log.statements_of(NODE_ERROR, PREPARATION_ERROR, KERNELS, NOT_APPLIED)
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
    if statement.kind == NODE_ERROR:
        return values["stage"] == "invoke"
    if statement.kind == API_ERROR:
        return any(words in values.get("doing", "") and stage == _RUNNING for words, _, stage in _CALLS)
    if statement.kind == OTHER_ERROR and any(words in statement.line for words in _WHILE_RUNNING):
        return True
    return values.get("stage") == "Invoke" or values.get("doing_what") == "invoke"


_CONSEQUENCES = (BENCHMARK_FAILED, CRASH, NOT_REGISTERED, NOT_APPLIED)
"""Kinds of errors that follow from another error, and do not give its reason."""
_NO_CAUSES = ("is not initialized", "apply compiler plugins")
"""Words in errors that follow from another error, and in errors after which the runtime continues."""


def cause_of(errors: Sequence[ExplainedError]) -> ExplainedError | None:
    """Return the likeliest cause of all errors: the most specific error. Of equally specific errors, return the first.

    Return None if no error names a cause.
    """
    causes = [
        error for error in errors if error.kind not in _CONSEQUENCES and not any(words in error.line for words in _NO_CAUSES)
    ]
    return min(causes, key=_rank, default=None)


def _rank(error: ExplainedError) -> int:
    """Return the rank of an error. The more an error says about the cause, the lower its rank."""
    ranks = {VENDOR_ERROR: 0, FAILURE: 2, OTHER_ERROR: 2, CUSTOM_ERROR: 2, IMMUTABLE_ERROR: 3, _NOT_CREATED: 3}
    ranks |= {KERNEL_ERROR: 4, NODE_ERROR: 5, LOAD_ERROR: 6}
    return ranks.get(error.kind, 1)


def _meaning(error: Statement, log: DeviceLog) -> str:
    if error.kind == API_ERROR:
        return _api_meaning(error)
    if error.kind == NODE_ERROR:
        return _node_meaning(error, log)
    values = error.values
    if error.kind == BUILTIN_ERROR:
        version = f" in version {values['version']}" if "version" in values else ""
        return f"the runtime has no {values['op']}{version}: it is older than the model or was built without this operator"
    if error.kind == VENDOR_ERROR:
        return next((meaning for words, meaning in _VENDOR_ERRORS if words in error.line), "an error of the vendor's library")
    if error.kind == CUSTOM_ERROR:
        return _custom_meaning(error, log)
    if error.kind == CALL_ERROR:
        return f"the delegate's library returned {values['code']} from {values['call']}"
    if error.kind == PREPARATION_ERROR:
        if "code" in values:
            return f"the driver could not prepare a model: {_CODES.get(values['code'], values['code'])}"
        return f"the kernel of {values['name']} failed in {values['stage']}"
    if "DispatchLibraryDir" in error.line:
        return "the application requests the NPU, but does not give the directory of the vendor's dispatch library"
    if error.kind in _BY_WORDS:
        own = next((meaning for words, meaning in _BY_WORDS[error.kind] if words in error.line), "")
        return own or engine_meaning(error.line) or _MEANINGS.get(error.kind, "")
    if error.kind == LIBRARY_ERROR and "versions" in error.line:
        return f"{dict(_OTHER_ERRORS)['versions']}; nothing is applied"
    if error.kind == LIBRARY_ERROR:
        return "the delegate's library, or a library that it needs, is missing or not built for this device; nothing is applied"
    if error.line == _KILLED:
        return dict(_OTHER_ERRORS)[_KILLED]
    return _MEANINGS.get(error.kind, "")


def _custom_meaning(error: Statement, log: DeviceLog) -> str:
    if "op" in error.values:
        op = error.values["op"]
        known = other_name(op)
        needs = f"; {op} is a compiled part of the model, and needs {known}" if known else ""
        return f"the application did not register the custom operator {op}{needs}"
    is_tpu = any(other_name(name) == other_name(EDGE_TPU) for name in names_in(log))
    pair = ": libedgetpu and TensorFlow Lite do not match, so use a pair that was built from the same version"
    return f"the runtime ran an operator that nothing implements{pair if is_tpu else ''}"


def _api_meaning(error: Statement) -> str:
    code, doing = error.values["code"], error.values.get("doing", "")
    if code not in _CODES and len(code) > 1 and any(known.startswith(code) for known in _CODES):
        return f"{code}: the line is cut off, so the code is incomplete"
    if code.isdigit() and int(code) < len(_NUMBERS):
        code = _PREFIX + _NUMBERS[int(code)]
    meaning = _CODES.get(code, "the meaning of this code is unknown")
    call = next((f" {call}, while {stage}" for words, call, stage in _CALLS if words in doing), "")
    return f"{code}: {meaning}; returned by{call}" if call else f"{code}: {meaning}"


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
    own = [int(count.values["total"]) for count in log.statements_of(OWN_COUNT) if _is_same(count, op)]
    own += [
        int(statement.values.get("taken", "0")) + int(statement.values["left"])
        for statement in log.statements_of(SPLIT)
        if _is_same(statement, op)
    ]
    return {None: own[-1]} if own else {}


def _failed(stage: str) -> str:
    return "failed when it ran" if stage == "invoke" else f"failed to {stage}"


def _is_same(statement: Statement, kernel: str) -> bool:
    name = statement.values["name"]
    return plain_name(name) == plain_name(kernel) or delegate_named(name) is delegate_named(kernel) is not None
