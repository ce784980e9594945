"""Patterns of lines that runtimes, delegates, drivers and tools print. More patterns are in ``log_reader``.

``PATTERNS`` lists the patterns by kind of line. The wordings come from the sources of TFLite and LiteRT (``tflite/core``,
``tflite/delegates``, ``litert/runtime``, ``litert/compiler``, ``litert/vendors``), from Android's
``packages/modules/NeuralNetworks``, and from device logs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

OWN_COUNT = "own-count"
LISTED_REFUSALS = "listed-refusals"
LISTED_REFUSAL = "listed-refusal"
SPLIT = "split"
OPERATOR_REFUSED = "operator-refused"
API_ERROR, NODE_ERROR, BUILTIN_ERROR, CUSTOM_ERROR = "api-error", "node-error", "builtin-error", "custom-error"
DYNAMIC_ERROR, IMMUTABLE_ERROR, KERNEL_ERROR = "dynamic-error", "immutable-error", "kernel-error"
CALL_ERROR, BUILD_ERROR, PREPARATION_ERROR, FAILURE, OTHER_ERROR = (
    "call-error", "build-error", "preparation-error", "failure", "other-error",
)  # fmt: skip
NOT_APPLIED, APPLIED = "not-applied", "applied"
CRASH, BENCHMARK_FAILED, LOAD_ERROR = "crash", "benchmark-failed", "load-error"
COMPILED, REGISTERED, NOT_REGISTERED, LIBRARY, SKIPPED, LITERT = (
    "compiled", "registered", "not-registered", "library", "skipped", "litert",
)  # fmt: skip
CHOICE, FINISHED, INTERFACE, DRIVER_REFUSAL, RUNTIME, RUNTIME_ERROR = (
    "choice", "finished", "interface", "driver-refusal", "runtime", "runtime-error",
)  # fmt: skip
LIBRARY_ERROR, FLEX_ERROR, PLACED, MAPPED = "library-error", "flex-error", "placed", "mapped"
SAID, EXECUTED, PROGRESS, VENDOR, INTERFACE_USED = "said", "executed", "progress", "vendor", "interface-used"
KERNELS, MEASURED = "kernels", "measured"

ERRORS = frozenset(
    {
        API_ERROR, NODE_ERROR, BUILTIN_ERROR, CUSTOM_ERROR, DYNAMIC_ERROR, IMMUTABLE_ERROR, KERNEL_ERROR, CALL_ERROR, BUILD_ERROR,
        PREPARATION_ERROR, FAILURE, OTHER_ERROR, CRASH, BENCHMARK_FAILED, LOAD_ERROR, NOT_REGISTERED,
        RUNTIME_ERROR, LIBRARY_ERROR, FLEX_ERROR,
    }
)  # fmt: skip
"""Kinds of lines that report an error."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One parsed line: the kind, the matched text, the values in that text, and the number of times printed."""

    kind: str
    line: str
    values: Mapping[str, str]
    times: int = 1


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of line: a word that every such line contains, and a regular expression."""

    kind: str
    needle: str
    form: re.Pattern[str]
    is_old: bool = False
    """True if only releases older than all known releases print such a line."""


def _pattern(kind: str, needle: str, form: str, *, is_old: bool = False) -> Pattern:
    return Pattern(kind, needle, re.compile(form), is_old)


_N = r"\d{1,9}"
PATTERNS = (
    _pattern(
        INTERFACE_USED,
        "-based API",
        r"Initializ(?:ed|ing) (?P<interface>\w{1,20})-based API(?: from (?:serialized data|graph))?\.?",
    ),
    _pattern(NOT_APPLIED, "Failed to apply delegate: ", r"Failed to apply delegate: "),
    _pattern(
        OWN_COUNT,
        "nodes delegated out of",
        rf"(?P<name>[A-Za-z]\w{{0,80}})(?: delegate)?: (?P<delegated>{_N}) nodes delegated out of (?P<total>{_N}) nodes,? with "
        rf"(?P<partitions>{_N}) partitions\.?",
    ),
    _pattern(
        LISTED_REFUSALS,
        "operations are not supported by",
        r"(?:Following|(?P<old>Next)) operations are not supported by (?P<name>\w{1,60}) delegate:?\s*",
    ),
    _pattern(
        SPLIT,
        "will run on the",
        rf"(?:(?P<old>First) |(?P<many>No) )?(?:(?P<taken>{_N}) )?operations will run on the (?P<name>\w{{1,20}}), and "
        rf"(?:the remaining|all) "
        rf"(?P<left>{_N})(?: operations will run)?(?: on the \w{{1,20}})?\.?",
    ),
    _pattern(
        SPLIT,
        "cannot be handled by this delegate",
        rf"(?P<refused>{_N}) (?:operations? )?cannot be handled by this delegate\. +Only the first (?P<taken>{_N}) ops "
        rf"will run on the "
        rf"(?P<name>\w{{1,20}}), and the remaining (?P<left>{_N}) on the \w{{1,20}}",
        is_old=True,
    ),
    _pattern(
        PLACED,
        "Number of operations that will run on",
        rf"Number of operations that will run on (?P<name>[\w ]{{1,40}}): (?P<count>{_N})",
    ),
    _pattern(
        MAPPED,
        "Mapped to ",
        rf"^\s*(?P<op>[A-Z]\w{{1,80}})\s+(?P<count>{_N})\s+Mapped to (?P<name>[\w ]{{1,40}})",
    ),
    _pattern(
        OPERATOR_REFUSED,
        "peration is ",
        rf"^\s*(?P<op>[A-Z]\w{{1,80}})\s+(?P<count>{_N})\s+"
        r"(?P<why>Operation is (?:otherwise supported|working on|not supported).*|More than one subgraph.*)",
    ),
    _pattern(
        OPERATOR_REFUSED,
        "is not supported on requested backend",
        r"Layer of type (?P<op>\w{1,80}) is (?P<why>not supported on requested backend .*)",
    ),
    _pattern(OPERATOR_REFUSED, "Fallback unsupported op", rf"Fallback unsupported op (?P<code>{_N}) to TfLite"),
    _pattern(
        OPERATOR_REFUSED,
        "is currently not delegated to",
        rf"Op code (?P<code>{_N}) is currently not delegated to (?P<name>\w{{1,40}})",
        is_old=True,
    ),
    _pattern(
        OPERATOR_REFUSED,
        "is not supported by",
        rf"Operator (?P<op>\w{{1,200}}) \[(?P<code>{_N})\] is not supported by (?P<name>\w{{1,60}}?)(?:_delegate)?\.",
    ),
    _pattern(
        OPERATOR_REFUSED,
        ": not supported by ",
        r"\b(?:Visit)?(?P<op>[A-Z]\w{0,100}?)(?:Operator)?: not supported by (?P<name>\w{1,60})(?:: (?P<why>.*))?",
    ),
    _pattern(
        API_ERROR,
        " returned error ",
        rf"(?P<name>[A-Z]{{2}}[A-Z ]{{0,30}}) returned error (?P<code>[A-Z]\w*|[^.]{{1,80}}?) at line (?P<place>{_N}) "
        rf"while (?P<doing>.*)",
    ),
    _pattern(
        API_ERROR,
        " returned error (",
        rf"(?P<name>[A-Z]{{2}}[A-Z ]{{0,30}}) returned error \((?P<code>\d{{1,4}}), line (?P<place>{_N})\)\.?",
        is_old=True,
    ),
    _pattern(API_ERROR, " returned error ", r"(?P<name>[A-Z]{2}[A-Z ]{0,30}) returned error (?P<code>\w+).*"),
    _pattern(
        NODE_ERROR,
        "Node number ",
        rf"Node number (?P<node>{_N}) \((?P<op>[^()]{{1,200}})\) failed to (?P<stage>prepare|invoke|initiali[sz]e)\b\.?",
    ),
    _pattern(
        BUILTIN_ERROR,
        "find op for builtin opcode",
        rf"Didn't find op for builtin opcode '(?P<op>\w{{1,200}})'(?: version '(?P<version>{_N})')?.*",
    ),
    _pattern(
        CUSTOM_ERROR,
        "unresolved custom op",
        r"Encountered unresolved custom op: (?P<op>.{1,200}?)\.?(?=\s{0,8}$| ?See |\. |Node )",
    ),
    _pattern(
        DYNAMIC_ERROR,
        "static-sized tensors",
        r"only supports static-sized tensors with a graph that has dynamic-sized tensors"
        r"(?: \(tensor#(?P<tensor>-?\d{1,9})(?: is a dynamic-sized tensor\)\.?)?)?",
    ),
    _pattern(DYNAMIC_ERROR, "dynamic", r"[Dd]elegate (?:does not|doesn't) support (?:graphs with )?dynamic(?:-sized)? tensors.*"),
    _pattern(IMMUTABLE_ERROR, "graph is immutable", r"ModifyGraphWithDelegate is disallowed when graph is immutable\.?"),
    _pattern(KERNEL_ERROR, "ernel", r"Delegate kernel was not initialized|Failed to initialize kernel\.?"),
    _pattern(
        KERNEL_ERROR,
        " returned failure ",
        r"(?:Returning error|Aborting) since \w{1,40} returned failure "
        r"(?P<place>(?:(?P<name>[a-z]{1,20})_delegate\.)?\S{1,200})",
    ),
    _pattern(
        KERNEL_ERROR,
        "with rank 0",
        rf"(?P<name>[A-Z]{{2,20}}) doesn't support tensors with rank 0 \(index {_N} name [^()]{{0,300}}\)",
        is_old=True,
    ),
    _pattern(KERNEL_ERROR, "Failed to build graph for ", r"Failed to build graph for (?P<name>\w{1,40})", is_old=True),
    _pattern(CALL_ERROR, " failed. Error: ", r"(?P<call>[A-Za-z]\w{1,80}) failed\. Error: (?P<code>-?\w{1,20})"),
    _pattern(BUILD_ERROR, "Failed to build program", r"Failed to build program executable(?: - (?P<why>.*))?"),
    _pattern(
        PREPARATION_ERROR,
        "elegate ",
        r"(?P<name>TfLite\w{1,60}|GpuDelegate) (?P<stage>Init|Prepare|Invoke): (?P<why>.+?)(?=Node number|$)",
    ),
    _pattern(
        LIBRARY_ERROR,
        "delegate from",
        r"(?:Failed to load|Unable to load external) delegate from ?:? ?(?P<path>[^\s(]{1,400})(?: \((?P<why>[^)]{1,300})\))?",
    ),
    _pattern(LIBRARY_ERROR, "unable to open library", r"\w{2,20} error: unable to open library (?P<path>\S{1,300})"),
    _pattern(
        OTHER_ERROR,
        "kernels/",
        r"[\w./-]{0,80}kernels/[\w./-]{1,80}\.(?:cc|h):\d{1,6} (?P<why>.+?)(?=Node number|$)",
    ),
    _pattern(LIBRARY_ERROR, "Failed to load lib", r"Failed to load (?P<path>lib[^\s,]{1,200})(?:, Error: (?P<why>.*))?"),
    _pattern(
        FLEX_ERROR,
        "not supported by this interpreter",
        r"(?:Select|Regular) TensorFlow op(?:s|\(s\))(?:, included in the given model,)? (?:is\(are\)|are) not supported by this "
        r"interpreter\.(?: Make sure you apply/link the Flex delegate before inference\.)?"
        r"(?: For the Android, .{1,150}? dependency\.)?(?: See instructions: \S{1,150}?(?=Node number|\s|$))?",
    ),
    _pattern(
        OTHER_ERROR,
        "ncompatible versions",
        r"Failed to fetch \w{1,20} NN version\.[^\n]{0,300}|Incompatible versions between interface library[^\n]{0,300}",
    ),
    _pattern(
        PREPARATION_ERROR,
        "preparation failed",
        r"(?P<why>model preparation failed with (?P<code>\w{1,60}))",
    ),
    _pattern(CRASH, "", r"Segmentation fault|Fatal signal \d+ \(\w+\)[^\n]{0,80}|^Aborted(?: \(core dumped\))?\s*$"),
    _pattern(BENCHMARK_FAILED, "Benchmarking failed", r"Benchmarking failed\.?"),
    _pattern(LOAD_ERROR, "Failed to ", r"Failed to (?:initialize the interpreter|allocate tensors!?|load model(?: from)?\b.*)"),
    _pattern(
        COMPILED,
        "Partitioned subgraph<",
        rf"Partitioned subgraph<(?P<subgraph>{_N})>, selected (?P<taken>{_N}) ops, from a total of (?P<total>{_N}) ops\. "
        rf"resulted in (?P<partitions>{_N}) partitions\.?",
    ),
    _pattern(
        NOT_REGISTERED,
        "accelerator",
        r"(?P<name>\w{1,40}) accelerator(?:\([^)]{1,200}\))? (?:could not be (?:loaded|registered)|is not (?:available|"
        r"registered)).*",
    ),
    _pattern(NOT_REGISTERED, "DispatchLibraryDir", r"You should provide the `DispatchLibraryDir` option to use (?P<name>NPU)\.?"),
    _pattern(FAILURE, "NPU islands", rf"Partitioning yielded {_N} NPU islands, which exceeds the maximum allowed \({_N}\)\.?"),
    _pattern(REGISTERED, "RegisterAccelerator", r"RegisterAccelerator: ptr=\w+, name=(?P<name>[\w ]{1,60})"),
    _pattern(REGISTERED, " registered", r"(?P<name>\w{1,40}) accelerator(?:\((?P<library>[^)]{1,200})\))? registered"),
    _pattern(REGISTERED, "vailable accelerators", r"[Aa]vailable accelerators: \[(?P<name>[^\]]{1,200})\]"),
    _pattern(
        LIBRARY,
        "oad",
        r"(?:Loading|Loaded|Attempting to load) (?:\w{1,40} ){0,4}?(?:shared library|accelerator|plugin at)\b"
        r"[^\"(/\w]*[\"(]?(?P<path>/?[^\s\")]{1,400})",
    ),
    _pattern(
        SKIPPED,
        "Skipping calling",
        rf"Skipping calling ModifyGraphWithDelegate on Subgraph (?P<subgraph>{_N})(?:: (?P<name>.*))?",
    ),
    _pattern(
        RUNTIME,
        "can't do operation",
        r"Device (?P<device>[^\s()]{1,100}) can't do operation (?P<op>\w{1,100})(?::\d{1,9})?",
    ),
    _pattern(
        CHOICE,
        "findBestDeviceForEachOperation",
        r"findBestDeviceForEachOperation\((?P<op>\w{1,100})(?::[^()]{1,100})?\) = (?P<number>-?\d{1,9})(?: "
        r"\((?P<device>[^()]{1,100})\))?",
    ),
    _pattern(
        FINISHED,
        "Body::finish",
        r"ExecutionPlan::\w+Body::finish: compilation finished successfully(?: on (?P<device>\S{1,100}))?",
    ),
    _pattern(RUNTIME_ERROR, "No driver can do", r"No driver can do (?:operation (?P<op>\w{1,100})|the op)"),
    _pattern(
        RUNTIME_ERROR,
        "getSupportedOperations",
        r"getSupportedOperations (?:failed|returned)[^\n]{0,300}",
    ),
    _pattern(
        RUNTIME_ERROR,
        "prepareModel",
        r"prepareModel(?:_\d_\d)?(?:FromCache)?(?: on \S{1,100})? (?:failed|failure|returned)\b[^\n]{0,300}",
    ),
    _pattern(
        RUNTIME_ERROR,
        "ANeuralNetworks",
        r"ANeuralNetworks(?:Model|Compilation|Execution)_\w{1,60} (?:called on|passed|can't|setting|Can't|exceed|invalid)"
        r"[^\n]{0,300}",
    ),
    _pattern(RUNTIME_ERROR, "Invalid Operation: ", r"Invalid Operation: [^\n]{0,400}"),
    _pattern(INTERFACE, "Found interface", r"Found interface (?P<device>\S{1,100})"),
    _pattern(
        DRIVER_REFUSAL, "is not supported", r"\{(?P<op>[A-Z][A-Z0-9_]{1,80}), (?P<type>[A-Z][A-Z0-9_]{1,80})\} is not supported"
    ),
    _pattern(APPLIED, "Applied ", r"^\s*Applied (?:Delegate_Provider_)?(?P<name>\w{1,60}) delegate\.?"),
    _pattern(KERNELS, "delegate kernels", rf"Created (?P<count>{_N}) (?P<name>\w{{1,40}}) delegate kernels\.?"),
    _pattern(EXECUTED, "nodes executed", rf"Number of nodes executed: (?P<count>{_N})"),
    _pattern(SAID, "elegate: ", r"^\s*(?P<name>TfLite\w{1,60}Delegate|\w{1,60} [Dd]elegate): (?P<what>.*)"),
)
"""The patterns of all kinds of lines, most specific pattern first."""

_PROGRESS = re.compile(
    r"Initialized TensorFlow Lite runtime|external tensors "
    r"are used for delegate|See instructions: |"
    r"The input model file size|Initialized session in|Running benchmark for|count=\d{1,12} |Timings \(microseconds\)|"
    r"Memory (?:footprint|usage)|Overall peak memory|Note: as the benchmark|Peak memory|"
    r"(?:Successfully applied|Applying \d{1,4}) .{0,80}delegate|Duplicate flags|Explicitly applied|invoked$|average time ?:|"
    r"Profiling Info|Top by (?:Computation Time|Memory)|\[[Nn]ode type\]|loaded lib|resolved reporter"
)
_MEASURED = re.compile(r"Inference timings|Average inference timings")
"""Matches the lines that benchmark_model prints only after the model has run."""
_RUNTIME_TAGS = frozenset(
    {"Manager", "ModelBuilder", "ExecutionPlan", "ExecutionBuilder", "CompilationBuilder", "Memory", "TypeManager",
     "ExecutionStep", "StepExecutor", "NeuralNetworks", "CpuExecutor", "Utils", "GraphDump", "BurstBuilder",
     "VersionedInterfaces", "Event"}
)  # fmt: skip
"""Logcat tags that Android's NNAPI runtime uses if ``debug.nn.vlog`` is set."""
_RUNTIME_WORDS = re.compile(
    r"(?:ModelBuilder|ExecutionPlan|ExecutionBuilder|CompilationBuilder|DeviceManager|ExecutionStep|IDevice|IPreparedModel)::|"
    r"NN\w* SL driver|SL_ANeuralNetworks"
)
_LITERT_TAGS = frozenset({"litert"})
_LITERT_WORDS = re.compile(r"^(?:\w+ )*LiteRT environment|compiler plugins|dispatch_library_path|compiler_plugin_library_path")
_VENDOR = re.compile(r"\bQnn\w{0,40}\b.{0,200}(?:<[EWIVD]>|\[)|^\[Qnn\]|unnhal", re.IGNORECASE)
_OWN_TAGS = frozenset({"tflite", "litert", "litertlm"})
_FAILED_TO = re.compile(r"(?:Failed to|Could not|Cannot|Unable to|Error:|No usable) ?.*", re.DOTALL)


def statement_of(text: str) -> tuple[Statement, Pattern, int] | None:
    """Return the first statement in a line, the matched pattern, and the end of the match; None if no pattern matches."""
    first: tuple[re.Match[str], Pattern] | None = None
    for pattern in PATTERNS:
        candidate = pattern.form.search(text) if pattern.needle in text else None
        if candidate is not None and (first is None or candidate.start() < first[0].start()):
            first = candidate, pattern
    if first is None:
        return None
    match, pattern = first
    values = {key: value for key, value in match.groupdict().items() if value is not None}
    end = match.start("doing") if "doing" in values else match.end()
    return Statement(pattern.kind, match[0].strip(), MappingProxyType(values)), pattern, max(end, match.start() + 1)


def loose_statement(text: str, tag: str, severity: str, source: str) -> Statement | None:
    """Return a statement for a line that no pattern matches, based on the program that printed the line.

    Return None if the line is unrelated to delegates.
    """
    line = text.strip()
    if severity in ("E", "F") and (tag in _RUNTIME_TAGS or _RUNTIME_WORDS.search(line)):
        return Statement(RUNTIME_ERROR, line, MappingProxyType({}))
    is_error = severity in ("E", "F") or bool(source and severity in ("", "W") and _FAILED_TO.match(line))
    if is_error and (source or tag in _OWN_TAGS or not tag) and _VENDOR.search(line) is None:
        kind = FAILURE if _FAILED_TO.match(line) else OTHER_ERROR
        return Statement(kind, line, MappingProxyType({"source": source} if source else {}))
    for kind, is_one in (
        (MEASURED, _MEASURED.search(line)),
        (PROGRESS, _PROGRESS.search(line)),
        (RUNTIME, tag in _RUNTIME_TAGS or _RUNTIME_WORDS.search(line)),
        (VENDOR, tag.lower().startswith(("qnn", "hta")) or _VENDOR.search(line)),
        (LITERT, source or tag in _LITERT_TAGS or _LITERT_WORDS.search(line)),
    ):
        if is_one:
            return Statement(kind, line, MappingProxyType({"source": source} if source else {}))
    return None
