"""Explain the error lines in a log. The model is not needed."""

from __future__ import annotations

from dataclasses import dataclass

from .delegate_identity import delegate_named, other_name, plain_name
from .known_lines import (
    API_ERROR,
    BENCHMARK_FAILED,
    BUILD_ERROR,
    BUILTIN_ERROR,
    CALL_ERROR,
    CRASH,
    CUSTOM_ERROR,
    DYNAMIC_ERROR,
    FAILURE,
    FLEX_ERROR,
    IMMUTABLE_ERROR,
    KERNEL_ERROR,
    LIBRARY_ERROR,
    LOAD_ERROR,
    NODE_ERROR,
    NOT_REGISTERED,
    OTHER_ERROR,
    OWN_COUNT,
    PREPARATION_ERROR,
    RUNTIME_ERROR,
    SPLIT,
    Statement,
)
from .log_contents import DeviceLog

_PREFIX = "ANEURALNETWORKS_"
_CODES = {
    "ANEURALNETWORKS_OUT_OF_MEMORY": "there is not enough memory",
    "ANEURALNETWORKS_INCOMPLETE": "the model or an operation is not complete",
    "ANEURALNETWORKS_UNEXPECTED_NULL": "a pointer was null, but must not be",
    "ANEURALNETWORKS_BAD_DATA": "the runtime finds the operands, their types or the order of the calls invalid",
    "ANEURALNETWORKS_OP_FAILED": "the driver could not compile or run it",
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
    ("running computation", "ANeuralNetworksExecution_startCompute", "the model runs"),
    ("waiting for async computation", "ANeuralNetworksEvent_wait", "the model runs"),
    ("associating", "ANeuralNetworksExecution_setInput", "the model is about to run"),
)
"""API calls, as (words from the delegate's description of the call, name of the function, stage in which the call is made)."""
_MEANINGS = {
    DYNAMIC_ERROR: "the delegate takes no graph in which the shape of a tensor is only known while it runs; nothing is delegated",
    IMMUTABLE_ERROR: "another delegate had been applied to the interpreter already; the error before it counts",
    KERNEL_ERROR: "the delegate's kernel of a partition failed when it was made; the error before it says why",
    BUILD_ERROR: "the device's driver could not compile a program that the delegate made",
    BENCHMARK_FAILED: "benchmark_model ended before it ran the model",
    CRASH: "the process crashed",
    LOAD_ERROR: "the runtime could not load or prepare the model",
    FLEX_ERROR: "the model has TensorFlow's own operators; the application must link the Flex delegate and apply it",
    NOT_REGISTERED: "the accelerator is not available, so it cannot be applied",
}


_FAILURES = (
    (
        "No usable Dispatch",
        "no dispatch library of the NPU's vendor was found or started, so compiled parts of the model cannot run",
    ),
    ("initialize Dispatch API", "the dispatch library of the NPU's vendor could not be started"),
    ("dispatch delegate kernel", "the compiled part of the model could not be loaded on the NPU"),
    ("load plugin", "a compiler plugin's library could not be loaded, so it compiles nothing"),
    ("NPU islands", "the compiler plugin would create more partitions than the application allows, so it compiles nothing"),
    ("get hooks", "the accelerator provides no hooks for profiling; LiteRT continues without them"),
    ("apply compiler plugins", "no compiler plugin compiled anything; the model runs as it is"),
    ("initialize", "the vendor's runtime could not be started on this device"),
    (
        "context from context binary",
        "the vendor's runtime does not accept the compiled part: it may have been compiled for another device or version",
    ),
    ("context", "the vendor's runtime could not set up a compiled part of the model"),
    ("modify graph", "the accelerator could not be applied, so the model could not be compiled"),
)
"""Meanings of LiteRT 2's errors, keyed by words in the error line."""


_OTHER_ERRORS = (
    ("versions", "the delegate's libraries on the device are of different versions"),
    ("open OpenCL", "the device has no OpenCL that the application can use; the delegate then tries OpenGL"),
    ("Falling back to OpenGL", "OpenCL did not work, for the reason in the error before it; the delegate tries OpenGL"),
)
"""Meanings of delegates' errors, keyed by words in the error line."""


_NOT_CREATED = "not-created"
_MISSING_DELEGATE = "the delegate is not available on this device, or lacks a library; nothing is applied"


@dataclass(frozen=True, slots=True)
class ExplainedError:
    """An error in a log: the line, its meaning, how many times it was printed, and the node that it names."""

    kind: str
    line: str
    meaning: str
    times: int
    node: int | None


_RUNTIME_FAILURES = (
    ("No driver can do", "none of the chosen devices accepts this operation, so nothing is compiled"),
    ("getSupportedOperations", "a driver does not report what it supports, so it gets no operations"),
    ("prepareModelFromCache", "a driver does not accept what it compiled earlier, so it compiles again"),
    ("prepareModel", "a driver could not compile a model"),
    ("Invalid Operation", "the runtime's own validation refuses the operation"),
    ("called on invalid model", "the runtime finds the model invalid as a whole"),
    ("newer what is allowed", "the model needs a higher feature level than the runtime has"),
    ("ANeuralNetworksModel_", "the runtime refuses the model that the delegate builds"),
    ("ANeuralNetworksCompilation_", "the runtime refuses to compile"),
)
"""Meanings of the errors of Android's NNAPI runtime, keyed by words in the error line."""


def explained_errors(log: DeviceLog) -> tuple[ExplainedError, ...]:
    """Return the distinct errors in a log, each with its meaning."""
    errors = [ExplainedError(_NOT_CREATED, line, _MISSING_DELEGATE, 1, None) for line in log.not_created]
    for error in log.errors:
        node = error.values.get("node")
        errors.append(
            ExplainedError(error.kind, error.line, _meaning(error, log), error.times, None if node is None else int(node))
        )
    return tuple(errors)


def _meaning(error: Statement, log: DeviceLog) -> str:
    """Return the meaning of an error; empty if the meaning is unknown."""
    if error.kind == API_ERROR:
        return _api_meaning(error)
    if error.kind == NODE_ERROR:
        return _node_meaning(error, log)
    values = error.values
    if error.kind == BUILTIN_ERROR:
        version = f" in version {values['version']}" if "version" in values else ""
        return f"the runtime has no {values['op']}{version}: it is older than the model, or was built without this operator"
    if error.kind == CUSTOM_ERROR:
        known = other_name(values["op"])
        needs = f"; it stands for a compiled part of the model, and needs {known}" if known else ""
        return f"the runtime has no custom operator {values['op']}: the application did not register it{needs}"
    if error.kind == CALL_ERROR:
        return f"the delegate's library returned {values['code']} from {values['call']}"
    if error.kind == PREPARATION_ERROR:
        if "code" in values:
            return f"the driver could not prepare a model: {_CODES.get(values['code'], values['code'])}"
        return f"the kernel of {values['name']} failed in {values['stage']}"
    if "DispatchLibraryDir" in error.line:
        return "the application requests the NPU, but does not say where the vendor's dispatch library is"
    if error.kind == FAILURE:
        return next((meaning for words, meaning in _FAILURES if words in error.line), "")
    if error.kind == LIBRARY_ERROR:
        return "the delegate's library, or a library that it needs, is missing or is not for this device; nothing is applied"
    if error.kind == OTHER_ERROR:
        return next((meaning for words, meaning in _OTHER_ERRORS if words in error.line), "")
    if error.kind == RUNTIME_ERROR:
        return next((meaning for words, meaning in _RUNTIME_FAILURES if words in error.line), "")
    return _MEANINGS.get(error.kind, "")


def _api_meaning(error: Statement) -> str:
    """Return the meaning of a failed NNAPI call."""
    code, doing = error.values["code"], error.values.get("doing", "")
    if code.isdigit() and int(code) < len(_NUMBERS):
        code = _PREFIX + _NUMBERS[int(code)]
    meaning = _CODES.get(code, "a code that is not known")
    call = next((f" {call}, while {stage}" for words, call, stage in _CALLS if words in doing), "")
    return f"{code}: {meaning}; returned by{call}" if call else f"{code}: {meaning}"


def _node_meaning(error: Statement, log: DeviceLog) -> str:
    """Return the meaning of a failed node. Delegate kernels are numbered after the model's nodes."""
    op, node, stage = error.values["op"], int(error.values["node"]), error.values["stage"]
    if delegate_named(op) is None:
        known = other_name(op)
        why = f"{op} is of {known}" if known else "if an error stands before it, that says why"
        return f"node {node} could not {stage}; {why}"
    totals = [replacement.total for replacement in log.replacements if replacement.kernel == op and replacement.total is not None]
    if not totals:
        own = [statement for statement in log.statements_of(OWN_COUNT) if _is_same(statement, op)]
        totals = [int(count.values["total"]) for count in own]
        totals += [
            int(statement.values.get("taken", "0")) + int(statement.values["left"])
            for statement in log.statements_of(SPLIT)
            if _is_same(statement, op)
        ]
    if totals and node >= totals[-1]:
        return (
            f"node {node} is the delegate's kernel {node - totals[-1] + 1}: the model's {totals[-1]} nodes are counted from 0, "
            f"and kernels follow; it could not {stage}"
        )
    return (
        f"node {node} is a kernel of the delegate; kernels follow the model's nodes, so the model has at most {node}; "
        f"it could not {stage}"
    )


def _is_same(statement: Statement, kernel: str) -> bool:
    """Return whether a statement and a kernel belong to the same delegate."""
    name = statement.values["name"]
    return plain_name(name) == plain_name(kernel) or delegate_named(name) is delegate_named(kernel) is not None
