"""Patterns of lines that runtimes, delegates, drivers and tools print. More patterns are in ``log_reader``.

``PATTERNS`` lists the patterns by kind of line. The wordings come from the sources of TFLite and LiteRT (``tflite/core``,
``tflite/delegates``, ``litert/runtime``, ``litert/compiler``, ``litert/vendors``), from Android's
``packages/modules/NeuralNetworks``, and from device logs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ...delegates.registry import (
    ARM_NN_SPEAKER,
    ARM_NN_TITLE,
    CORE_ML_SPEAKER,
    CPU_LIBRARY_SPEAKER,
    DSP_SPEAKER,
    EDGE_TPU,
    EDGE_TPU_KERNEL,
    GRAPHICS_ACCELERATOR,
    GRAPHICS_SPEAKER,
    MESA,
    MESA_KERNEL,
    VX_KERNEL,
)
from ...foundation.work_budget import spend_steps
from .kinds import Event


@dataclass(frozen=True, slots=True)
class Statement:
    """One parsed line: its kind, the matched text, the values in the text, and how often the log has the line."""

    kind: str
    line: str
    values: Mapping[str, str]
    times: int = 1
    places: tuple[int, ...] = field(default=(), compare=False)
    """The numbers of the lines. Only the first number if the log has very many lines of this kind."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of line: a regular expression, and a word that every line of this kind contains."""

    kind: str
    needle: str
    form: re.Pattern[str]
    is_old: bool = False
    """True if only releases older than all known releases print such a line."""
    name: str = ""
    """The delegate that prints lines of this kind, if the lines do not name it."""
    meaning: str = ""
    """The meaning of the line, if its kind does not say it."""


def _pattern(kind: str, needle: str, form: str, *, is_old: bool = False, name: str = "", meaning: str = "") -> Pattern:
    return Pattern(kind, needle, re.compile(form), is_old, name, meaning)


ARMNN_PARSER = "Arm NN's parser"
"""The name of the part of Arm NN that reads models without TensorFlow Lite."""

DECLARE_OPENCL = (
    "on Android 12 and newer, an application finds OpenCL only if its manifest declares libOpenCL.so and libvndksupport.so with "
    "<uses-native-library>"
)
"""The declarations with which an application can open OpenCL (LiteRT's ``kotlin/src/main/AndroidManifest.xml``)."""
CHARACTERS_IN_A_STEP = 16
"""Number of characters of a line that regular expressions search in a step."""
_N = r"\d{1,9}"
_SEPARATORS = ",.'\u2019\xa0\u202f"
"""Separators of thousands in several languages."""
_GROUPED = rf"(?<![\d{_SEPARATORS}])(?:\d{{1,3}}(?:[{_SEPARATORS}]\d{{3}}){{1,2}}|\d{{1,9}})(?!\d|[{_SEPARATORS}]\d)"
"""Matches a whole number, with or without separators of thousands."""
_COUNTS = ("taken", "left", "delegated", "total")
PATTERNS = (
    *[
        _pattern(
            Event.INTERFACE_USED,
            f"{word} ",
            rf"{word} (?P<interface>\w{{1,20}})-based API(?: from (?:serialized data|graph))?\.?",
            name=speaker,
        )
        for word, speaker in (("Initialized", GRAPHICS_SPEAKER), ("Initializing", GRAPHICS_ACCELERATOR))
    ],
    _pattern(Event.INTERFACE_USED, "LITERT_CL", r"\bLITERT_(?P<interface>CL)\b"),
    _pattern(Event.INTERFACE_USED, "environment", r"Created? a? ?(?P<interface>WebGPU) environment\b", name=GRAPHICS_ACCELERATOR),
    _pattern(
        Event.OTHER_ERROR,
        "Failed to visit node",
        r"ArmNN Failed to visit node with error: (?P<unvisited>.*)",
        meaning="an exception of Arm NN, after which the delegate refuses the node; the node stays on the CPU",
    ),
    _pattern(Event.OTHER_ERROR, "Falling back to ", r"Falling back to (?P<interface>OpenGL)\b", name=GRAPHICS_SPEAKER),
    _pattern(
        Event.NOTED,
        "OpenCL library with dlopen",
        r"Failed to load OpenCL library with dlopen: [^\n]{0,300}",
        meaning=f"no OpenCL library was opened by its name, so the ICD loader is tried; {DECLARE_OPENCL}",
    ),
    _pattern(
        Event.NOTED,
        "OpenCL not supported",
        r"OpenCL not supported on this platform\. Using \w{1,20} instead\.?",
        name=GRAPHICS_ACCELERATOR,
        meaning=f"the accelerator found no OpenCL, and uses another interface, which may be slower; {DECLARE_OPENCL}",
    ),
    _pattern(
        Event.PREPARATION_ERROR,
        "DelegateKernelLiteRt",
        r"Failed to (?P<stage>create) (?:litert::)?ml_drift::DelegateKernelLiteRt: ?(?P<why>.*)",
        name=GRAPHICS_ACCELERATOR,
    ),
    _pattern(
        Event.API_ERROR,
        "WebGPU environment",
        r"Failed to (?:initialize|get|create) WebGPU environment\b.*",
        name=GRAPHICS_ACCELERATOR,
        meaning="no device could be opened with WebGPU, so the graphics accelerator takes nothing",
    ),
    _pattern(
        Event.CREATED,
        "elegate",
        r"Created TensorFlow Lite (?:delegate for (?P<name>[^.]{1,60})|(?P<two>\S{1,60}) delegate for CPU)\.?|"
        r"(?P<three>[A-Za-z]\w{1,60}) delegate created\.",
    ),
    _pattern(Event.CREATED, "Opening device", rf"\b{EDGE_TPU}\w{{1,40}}\.cc:{_N}\] Opening device at \S{{1,200}}", name=EDGE_TPU),
    _pattern(Event.CREATED, "TPU found", r"(?<!No )(?<!no )\bTPU found", name=EDGE_TPU),
    _pattern(Event.NOT_CREATED, "TPU", r"No Edge ?TPU (?:was )?detected.*", name=EDGE_TPU),
    *[
        _pattern(
            Event.NOT_CREATED,
            needle,
            r"(?:Could not|Cannot|Can't|Failed to|Unable to) (?:create|load|initialize|find) "
            r"(?:the |TFLite |TensorFlow Lite )?\w{1,40} (?:delegate|accelerator)\b.*|"
            r"(?:Core )?\w{1,40} (?:acceleration|[Dd]elegate) is (?:unsupported|not supported|not available)\b.*|"
            r"[A-Z][\w ]{0,20} delegate will not be enabled.*",
        )
        for needle in ("elegate", "accelerat")
    ],
    _pattern(
        Event.RESTORED,
        "Restored ",
        r"Restored (?:original|(?P<old>previous)) execution plan after delegate application failure",
    ),
    _pattern(Event.NOT_APPLIED, "pply", r"Failed to apply delegate: ?|Error applying delegate: ?"),
    _pattern(
        Event.DEFAULT_LEFT_OUT,
        "the default TensorFlow Lite delegate",
        r"(?:Ignoring failed application of|Failed to apply(?=.{1,200}Ignoring the error)|Error in applying(?=.{1,200}reverted)) "
        r"the default TensorFlow Lite delegate indexed at .*",
    ),
    _pattern(
        Event.VERSION_SAID,
        " delegate: loaded",
        rf"{MESA.title()} delegate: loaded (?P<what>(?P<interface>\w{{1,40}}) driver)(?P<version>)",
    ),
    _pattern(Event.NOT_APPLIED, "ModifyGraphWithDelegate(", r"^\s*(?:\w{1,40}\.){1,4}ModifyGraphWithDelegate\("),
    _pattern(
        Event.OWN_COUNT,
        "nodes delegated out of",
        rf"(?P<name>[A-Za-z]\w{{0,80}})(?: delegate)?: (?P<delegated>{_GROUPED}) nodes delegated out of "
        rf"(?P<total>{_GROUPED}) nodes,? with (?P<partitions>{_N}) partitions\.?",
    ),
    _pattern(
        Event.OWN_COUNT,
        "nodes delegated out of",
        rf"Number of subgraphs: ?(?P<partitions>{_N}) ?, (?P<delegated>{_GROUPED}) nodes delegated out of "
        rf"(?P<total>{_GROUPED}) nodes",
        name="TIDL",
    ),
    _pattern(
        Event.LISTED_REFUSALS,
        "operations are not supported by",
        r"(?:Following|(?P<old>Next)) operations are not supported by (?P<name>\w{1,60}) delegate:?\s*",
    ),
    _pattern(
        Event.SPLIT,
        "will run on the",
        rf"(?:(?P<old>First) )?(?:No|(?P<taken>{_GROUPED})) operations will run on the (?P<name>\w{{1,20}}), and "
        rf"(?:the remaining|all) "
        rf"(?P<left>{_GROUPED})(?: operations will run)?(?: on the \w{{1,20}})?\.?",
    ),
    _pattern(
        Event.SPLIT,
        "Only the first ",
        rf"Only the first (?P<taken>{_N}) ops will run on the (?P<name>\w{{1,20}}), and the remaining (?P<left>{_N}) on the "
        r"\w{1,20}",
        is_old=True,
    ),
    _pattern(
        Event.OPERATOR_REFUSED,
        "cannot be handled by this delegate",
        rf"(?:op code #)?(?P<code>{_N}) cannot be handled by this delegate\b\.?",
        is_old=True,
        name=GRAPHICS_SPEAKER,
    ),
    _pattern(
        Event.OPERATOR_REFUSED,
        "is not supported on requested backend",
        r"Layer of type (?P<op>\w{1,80}) is (?P<why>not supported on requested backend .*)",
    ),
    _pattern(
        Event.OPERATOR_REFUSED,
        "failed to delegate ",
        rf"failed to delegate (?P<op>[A-Z]\w{{1,80}}) node #{_N}\. (?P<why>.*)",
        name=CPU_LIBRARY_SPEAKER,
    ),
    _pattern(Event.OPERATOR_REFUSED, "Fallback unsupported op", rf"Fallback unsupported op (?P<code>{_N}) to TfLite"),
    _pattern(
        Event.OPERATOR_REFUSED,
        "is currently not delegated to",
        rf"Op code (?P<code>{_N}) is currently not delegated to (?P<name>\w{{1,40}})",
        is_old=True,
    ),
    _pattern(
        Event.OPERATOR_REFUSED,
        "is not supported by",
        rf"Operator (?P<op>\w{{1,200}}) \[(?P<code>{_N})\] is not supported by (?P<name>\w{{1,60}}?)(?:_delegate)?\b\.?",
    ),
    _pattern(
        Event.OPERATOR_REFUSED,
        "perator not supported",
        rf"Operator not supported\. subgraph: ?{_N} operator: ?{_N} opcode_index: ?{_N} opcode: ?(?P<code>{_N})[^\n]{{0,200}}",
        name=ARMNN_PARSER,
    ),
    _pattern(
        Event.OPERATOR_REFUSED,
        ": not supported by ",
        r"\b(?:Visit)?(?P<op>[A-Z]\w{0,100}?)(?:Operator)?: not supported by (?P<name>\w{1,60})(?:: (?P<why>.*))?",
    ),
    _pattern(
        Event.API_ERROR,
        f"{ARM_NN_SPEAKER}: ",
        rf"{ARM_NN_SPEAKER}: (?P<why>(?:Exception \(|Unable to parse node\b).*)",
        name=ARM_NN_SPEAKER,
        meaning="Arm NN cannot build the network of the nodes that the delegate took",
    ),
    _pattern(
        Event.NOT_CREATED,
        "kernel device",
        r"Couldn't open kernel device",
        name=MESA_KERNEL,
        meaning="no driver of Mesa opens a device; check that the kernel has the driver, and that the user may open it",
    ),
    _pattern(
        Event.API_ERROR,
        " returned error ",
        rf"(?P<name>[A-Z]{{2}}[A-Z ]{{0,30}}) returned error (?P<code>[A-Z]\w*|[^.]{{1,80}}?) at line (?P<place>{_N}) "
        rf"while (?P<doing>.*)",
    ),
    _pattern(
        Event.API_ERROR,
        " returned error (",
        rf"(?P<name>[A-Z]{{2}}[A-Z ]{{0,30}}) returned error \((?P<code>\d{{1,4}}), line (?P<place>{_N})\)\.?",
        is_old=True,
    ),
    _pattern(Event.API_ERROR, " returned error ", r"(?P<name>[A-Z]{2}[A-Z ]{0,30}) returned error (?P<code>\w+).*"),
    _pattern(
        Event.NODE_ERROR,
        "Node number ",
        rf"Node number (?P<node>{_N}) \((?P<op>[^()]{{1,200}})\) failed to (?P<stage>prepare|invoke|initiali[sz]e)\b\.?",
    ),
    _pattern(
        Event.BUILTIN_ERROR,
        "find op for builtin opcode",
        rf"Didn't find op for builtin opcode '(?P<op>\w{{1,200}})'(?: version '(?P<version>{_N})')?.*",
    ),
    _pattern(
        Event.CUSTOM_ERROR,
        "unresolved custom op",
        r"Encountered unresolved custom op: (?P<op>.{1,200}?)\.?(?=\s{0,8}$| ?See |\. |Node )",
    ),
    _pattern(
        Event.CUSTOM_ERROR,
        "unresolved custom op",
        r"Encountered an unresolved custom op\.(?: Did you miss a custom op or delegate\?)?",
    ),
    _pattern(
        Event.HINT_ERROR,
        "ully delegated",
        r"Hint fully delegated to single delegate is set, but the graph is not fully delegated\.?",
        name=GRAPHICS_SPEAKER,
    ),
    _pattern(
        Event.VENDOR_ERROR,
        "_handle",
        r"\[(?P<name>QNN) Delegate\] Failed to create (?P<what>\w{1,40})_handle for Backend ID \d{1,4}, error=(?P<code>\d{1,9})",
    ),
    _pattern(Event.VENDOR_ERROR, "HIB Error", r"HIB Error\. .*", name=EDGE_TPU),
    _pattern(Event.VENDOR_ERROR, "<E>", r"(?:\w{0,80}Qnn\w{0,40}|\[Qnn\w{0,40}\]) *<E> *(?P<why>.*)"),
    *[
        _pattern(
            Event.VENDOR_ERROR,
            needle,
            rf"\bE ?\[[\w./-]{{0,200}}{needle}[\w./-]{{1,200}}\.c{{1,2}}(?::\w{{1,80}})?(?::\d{{1,6}})?\] ?(?P<why>.*)",
            name=VX_KERNEL,
        )
        for needle in ("vsi_nn", "tim/")
    ],
    _pattern(
        Event.VENDOR_ERROR,
        "hexagon/",
        r"\bhexagon/(?:\w{1,20}/){1,3}\w{1,60}\.c:\d{1,6}: ?(?P<why>.*)",
        name=DSP_SPEAKER,
    ),
    _pattern(Event.PREPARATION_ERROR, "compiling model", r"Error (?P<stage>compiling) model (?P<why>.*)", name=CORE_ML_SPEAKER),
    _pattern(Event.OTHER_ERROR, "registration from op code", r"Failed to get registration from op code\b.*"),
    _pattern(
        Event.OTHER_ERROR,
        ", missing: ",
        rf"Failed to \w[\w ]{{2,40}}\. Requested: {_N}, available {_N}, missing: (?P<missing>{_N})",
        meaning="the tensor arena of the application, which uses TensorFlow Lite Micro, is too small",
    ),
    _pattern(Event.OTHER_ERROR, "verify graph", r"Failed to verify graph", name=VX_KERNEL),
    _pattern(Event.VENDOR_ERROR, "is out of range", r"(?P<why>Axis value -?\d{1,9} is out of range\b.*)"),
    _pattern(Event.VENDOR_ERROR, "clGetPlatformIDs", r"clGetPlatformIDs\b.{0,40}?(?P<code>-\d{1,9})"),
    _pattern(
        Event.OTHER_ERROR,
        "XNNP",
        rf"(?i:{CPU_LIBRARY_SPEAKER}) delegate failed to (?P<what>[a-z]{{1,40}}) runtime|"
        rf"failed to (?P<doing_what>[a-z]{{1,40}}) {CPU_LIBRARY_SPEAKER} runtime",
        name=CPU_LIBRARY_SPEAKER,
    ),
    _pattern(
        Event.DYNAMIC_ERROR,
        "static-sized tensors",
        r"only supports static-sized tensors with a graph that has dynamic-sized tensors"
        r"(?: \(tensor#(?P<tensor>-?\d{1,9})(?: is a dynamic-sized tensor\)\.?)?)?",
    ),
    _pattern(
        Event.DYNAMIC_ERROR,
        "dynamic",
        r"[Dd]elegate (?:does not|doesn't) support (?:graphs with )?dynamic(?:-sized)? tensors.*",
    ),
    _pattern(Event.IMMUTABLE_ERROR, "graph is immutable", r"ModifyGraphWithDelegate is disallowed when graph is immutable\.?"),
    _pattern(Event.KERNEL_ERROR, "ernel", r"Delegate kernel was not initialized|Failed to initialize kernel\.?"),
    _pattern(
        Event.KERNEL_ERROR,
        " returned failure ",
        r"(?:Returning error|Aborting) since \w{1,40} returned failure "
        r"(?P<place>(?:(?P<name>[a-z]{1,20})_delegate\.)?\S{1,200})",
    ),
    _pattern(
        Event.KERNEL_ERROR,
        "with rank 0",
        rf"(?P<name>[A-Z]{{2,20}}) doesn't support tensors with rank 0 \(index {_N} name [^()]{{0,300}}\)",
        is_old=True,
    ),
    _pattern(
        Event.OTHER_ERROR,
        " was requested, but",
        r"(?P<name>[A-Z]{3,20}) was requested, but .*",
        meaning="the delegate does not take this graph; nothing is delegated",
        is_old=True,
    ),
    _pattern(
        Event.VENDOR, ".cc:", rf"^\W*[IW] (?:driver|tflite/{EDGE_TPU}\w{{1,40}})[\w./-]{{0,200}}\.cc:{_N}\] .*", name=EDGE_TPU
    ),
    _pattern(Event.KERNEL_ERROR, "Failed to build graph for ", r"Failed to build graph for (?P<name>\w{1,40})", is_old=True),
    _pattern(Event.CALL_ERROR, " failed. Error: ", r"(?P<call>[A-Za-z]\w{1,80}) failed\. Error: (?P<code>-?\w{1,20})"),
    _pattern(Event.BUILD_ERROR, "Failed to build program", r"Failed to build program executable(?: - (?P<why>.*))?"),
    _pattern(
        Event.PREPARATION_ERROR,
        "elegate ",
        r"(?P<name>TfLite\w{1,60}|GpuDelegate) (?P<stage>Init|Prepare|Invoke): (?P<why>.*?)(?=Node number|$)",
    ),
    _pattern(
        Event.LIBRARY_ERROR,
        "delegate from",
        r"(?:Failed to load|Unable to load external) delegate from ?:? ?(?P<path>[^\s(]{1,400})(?: \((?P<why>[^)]{1,300})\))?",
    ),
    _pattern(
        Event.LIBRARY_ERROR, "unable to open library", r"(?P<owner>\w{2,20}) error: unable to open library (?P<path>\S{1,300})"
    ),
    _pattern(
        Event.OTHER_ERROR, "kernels/", r"[\w./-]{0,80}kernels/[\w./-]{1,80}\.(?:cc|h):\d{1,6} (?P<why>.+?)(?=Node number|$)"
    ),
    *[
        _pattern(
            Event.OTHER_ERROR,
            needle,
            rf"[\w./-]{{1,120}}\.(?:cc|h):\d{{1,6}} (?P<why>[^\[\]\s].{{0,300}}?{end})(?=Node number|\s*$)",
        )
        for needle, end in ((" was not true", r" was not true\."), (" != ", r"\(\S{1,30} != \S{1,30}\)"))
    ],
    _pattern(Event.LIBRARY_ERROR, "oad ", r"(?<!└ )\b[Cc]ould not load (?:shared )?library (?P<path>\S{1,300})(?=\s*$)"),
    _pattern(
        Event.LIBRARY_ERROR,
        "libhexagon_nn_skel",
        r"remote[ _]handle(?:64)?[ _]open(?:[ _]domain)?\b.{0,40}?failed\b.{0,40}?file:///(?P<path>libhexagon_nn_skel\w{0,10}\.so)",
        name=DSP_SPEAKER,
    ),
    _pattern(Event.LIBRARY_ERROR, "Failed to load lib", r"Failed to load (?P<path>lib[^\s,]{1,200})(?:, Error: (?P<why>.*))?"),
    _pattern(
        Event.FLEX_ERROR,
        "not supported by this interpreter",
        r"(?:Select|Regular) TensorFlow op(?:s|\(s\))(?:, included in the given model,)? (?:is\(are\)|are) not supported by this "
        r"interpreter\.(?: Make sure you apply/link the Flex delegate before inference\.)?"
        r"(?: For the Android, .{1,150}? dependency\.)?(?: See instructions: \S{1,150}?(?=Node number|\s|$))?",
    ),
    _pattern(
        Event.LIBRARY_ERROR,
        "ncompatible versions",
        r"Failed to fetch \w{1,20} NN version\.[^\n]{0,300}|Incompatible versions between interface library[^\n]{0,300}",
        name=DSP_SPEAKER,
    ),
    _pattern(
        Event.OTHER_ERROR,
        "requires runtime version",
        r"Package requires runtime version \((?P<needed>\d{1,6})\), which is newer than this runtime version "
        r"\((?P<found>\d{1,6})\)\.?",
        name=EDGE_TPU_KERNEL,
    ),
    _pattern(
        Event.OTHER_ERROR,
        "custom op handler",
        r"Unsupported (?:layer )?data type in custom op handler: (?P<code>-?\d{1,12})",
        name=EDGE_TPU_KERNEL,
    ),
    _pattern(Event.OTHER_ERROR, "for TPU", r"Failed to prepare for TPU\. [^\n]{0,200}", name=EDGE_TPU_KERNEL),
    _pattern(
        Event.OTHER_ERROR,
        "execute request",
        r"Failed to execute request\. (?P<why>.+?)(?=Node number|$)",
        name=EDGE_TPU_KERNEL,
    ),
    _pattern(
        Event.OTHER_ERROR,
        "reading back data",
        r"The timeout was reached while reading back data\.?",
        name=GRAPHICS_ACCELERATOR,
        meaning="the graphics processor did not finish an inference in time",
    ),
    _pattern(Event.OTHER_ERROR, "TPU context", r"Failed to retrieve TPU context\.?", name=EDGE_TPU_KERNEL),
    _pattern(Event.MISSING_SERVICE, "not exists", r"(?P<what>[Nn]euron ser[iv]{2}ce) not exists"),
    _pattern(Event.MISSING_SERVICE, " service", r"[Cc]an't get (?P<service>\w{1,80}) service"),
    _pattern(Event.MISSING_SERVICE, "getTransport", r"getTransport: Cannot find entry(?: (?P<entry>\S{1,200}))?"),
    _pattern(Event.MISSING_SERVICE, "VINTF manifest", r"in either framework or device VINTF manifest"),
    _pattern(
        Event.NPU_ROW,
        "supported",
        rf"^\s*(?P<index>{_N})\s+(?:op:\s*(?P<code>{_N})\s+)?(?P<op>\w{{1,40}})\s+v{_N}\s+(?:\S\s*)?(?P<support>supported|unsupported)\b.*",
        name=MESA_KERNEL,
    ),
    _pattern(
        Event.NPU_GRAPH,
        f"{MESA}: ",
        rf"{MESA}: (?:compiling graph: {_N} tensors (?P<operations>{_N}) operations|"
        rf"=+ subgraph #{_N}: (?P<more>{_N}) operations.*)",
        name=MESA_KERNEL,
    ),
    _pattern(Event.NPU_DONE, f"{MESA}: ", rf"{MESA}: (?P<what>compiled|invoked) graph, took [\d.]{{1,20}} ms", name=MESA_KERNEL),
    _pattern(Event.COMPILED_PART, "Context binary ", rf"Context binary (?P<number>{_N}) generated", name="QNN"),
    _pattern(Event.VERSION_SAID, "euron api version", r"(?P<what>Neuron) api version: (?P<version>\d{1,4}(?:\.\d{1,4}){1,3})"),
    _pattern(Event.VERSION_SAID, "elegate version: ", r"(?P<what>\w{1,40} delegate) version: (?P<version>v?\d[\w.+-]{0,60})"),
    _pattern(
        Event.VERSION_SAID, f"{ARM_NN_TITLE} v", rf"(?P<what>{ARM_NN_TITLE}) v(?P<version>\d{{1,4}}\.\d{{1,4}}(?:\.\d{{1,4}})?)"
    ),
    _pattern(Event.VERSION_SAID, "QNN version", r"(?P<what>QNN) version=v?(?P<version>\d{1,4}(?:\.\d{1,6}){1,3})"),
    _pattern(Event.PREPARATION_ERROR, "preparation failed", r"(?P<why>model preparation failed with (?P<code>\w{1,60}))"),
    _pattern(
        Event.CRASH,
        "",
        r"Segmentation fault|Fatal signal \d+ \(\w+\)[^\n]{0,80}|"
        r"\bCheck failed: .*|Guru Meditation Error: .*|Fatal Python error: .*|terminate called after throwing .*|"
        r"^(?:\S{1,20}:|\[\d{1,3}\] *(?:[+-] *)?\d{1,9}) +(?:segmentation fault|abort|bus error|killed) .*|"
        r"\w[\w ]{0,40} \(core dumped\)\s*$|Process finished with exit code (?:13[2-9]|-107374\d{4}).*|"
        r"\b[Ss]ignal (?:\d{1,2} )?\(?SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP)\b.*|\bCrashed: .{0,60}\bSIG[A-Z]{3,5}\b.*|"
        r"\bstop reason = (?:EXC_|signal )\w{1,40}.*|\bAssertion [`'].{1,300}' failed\.|"
        r"^\s*#\d\d pc (?:0x)?[0-9a-f]{4,16} .*|"
        r"^(?:Aborted|Illegal instruction|Bus error|Killed)(?: \(core dumped\))?\s*$|"
        # other locales
        r"^\s*(?:Speicherzugriffsfehler|Abgebrochen|Erreur de segmentation|Abandon|Violaci\xf3n de segmento|"
        r"Errore di segmentazione|"
        r"\u6bb5\u9519\u8bef|\u30bb\u30b0\u30e1\u30f3\u30c6\u30fc\u30b7\u30e7\u30f3\u9055\u53cd)(?: \([^()]{1,40}\))?\s*$",
    ),
    _pattern(Event.BENCHMARK_FAILED, "Benchmarking failed", r"Benchmarking failed\.?"),
    _pattern(
        Event.LOAD_ERROR, "Failed to ", r"Failed to (?:initialize the interpreter|allocate tensors!?|load model(?: from)?\b.*)"
    ),
    *[
        _pattern(
            Event.LOAD_ERROR,
            needle,
            r"(?i:(?:fail(?:ed)?|unable) to|could not|cannot) (?:create|build|allocate|construct) (?:the |a |an )?"
            rf"(?i:TFLite |TensorFlow ?Lite )?\w{needle}\b.*",
        )
        for needle in ("nterpreter", "ensors")
    ],
    _pattern(Event.LOAD_ERROR, "AllocateTensors", r"\bAllocateTensors\(\) failed.*"),
    _pattern(Event.LOAD_ERROR, "model allocation", r"Failed starting model allocation\.?"),
    _pattern(Event.LOAD_ERROR, "ToInitializeEngine", r"failedToInitializeEngine\b.*"),
    *[
        _pattern(Event.LOAD_ERROR, needle, rf"(?i:failed to (?:create|initiali[sz]e) )(?P<what>{needle})\b(?:: .*)?")
        for needle in ("engine", "conversation", "session")
    ],
    _pattern(Event.LOAD_ERROR, "preparing tensor", r"Unexpected failure when preparing tensor allocations"),
    _pattern(
        Event.OTHER_ERROR,
        "any preferred",
        r"Layer of type \w{1,80} is not supported on any preferred backend.*",
        name=ARMNN_PARSER,
    ),
    _pattern(Event.OTHER_ERROR, "Failed to run ", r"Failed to run (?P<what>prefill|decode)\b(?:: .*)?"),
    _pattern(Event.OTHER_ERROR, "└ ", r"└ (?!ERROR: \[|Could not load )\S.*"),
    _pattern(Event.OTHER_ERROR, "Unsupported dispatch", r"Unsupported dispatch runtime version.*"),
    _pattern(Event.LOAD_ERROR, "model identifier", r"Model provided has model identifier '.{1,8}', should be '\w{4}'"),
    _pattern(Event.LOAD_ERROR, "not a valid", r"\S{1,40} is not a valid [Ff]lat[Bb]uffer model"),
    _pattern(
        Event.COMPILED,
        "Partitioned subgraph<",
        rf"Partitioned subgraph<(?P<subgraph>{_N})>, selected (?P<taken>{_N}) ops, from a total of (?P<total>{_N}) ops\. "
        rf"resulted in (?P<partitions>{_N}) partitions\.?",
    ),
    _pattern(
        Event.NOT_REGISTERED,
        "accelerator",
        r"(?P<name>\w{1,40}) accelerator(?:\([^)]{1,200}\))? (?:could not be (?:(?:dynamically )?loaded|registered)|"
        r"is not (?:available|registered)).*",
    ),
    _pattern(
        Event.NOT_REGISTERED,
        "DispatchLibraryDir",
        r"You should provide the `DispatchLibraryDir` option to use (?P<name>NPU)\.?",
    ),
    _pattern(
        Event.FAILURE, "NPU islands", rf"Partitioning yielded {_N} NPU islands, which exceeds the maximum allowed \({_N}\)\.?"
    ),
    _pattern(Event.REGISTERED, "RegisterAccelerator", r"RegisterAccelerator: ptr=\w+, name=(?P<name>[\w ]{1,60})"),
    _pattern(Event.REGISTERED, " registered", r"(?P<name>\w{1,40}) accelerator(?:\((?P<library>[^)]{1,200})\))? registered"),
    _pattern(Event.REGISTERED, "vailable accelerators", r"[Aa]vailable accelerators: \[(?P<name>[^\]]{1,200})\]"),
    _pattern(
        Event.LIBRARY,
        "oad",
        r"(?:Loading|Loaded|Attempting to load) (?:\w{1,40} ){0,4}?(?:shared library|accelerator|plugin at)\b"
        r"[^\"(/\w]*[\"(]?(?P<path>/?[^\s\")]{1,400})",
    ),
    _pattern(
        Event.SKIPPED,
        "Skipping calling",
        rf"Skipping calling ModifyGraphWithDelegate on Subgraph (?P<subgraph>{_N})(?:: (?P<name>.*))?",
    ),
    _pattern(
        Event.RUNTIME,
        "can't do operation",
        r"Device (?P<device>[^\s()]{1,100}) can't do operation (?P<op>\w{1,100})(?::\d{1,9})?",
    ),
    _pattern(
        Event.CHOICE,
        "findBestDeviceForEachOperation",
        r"findBestDeviceForEachOperation\((?P<op>\w{1,100})(?::[^()]{1,100})?\) = (?P<number>-?\d{1,9})(?: "
        r"\((?P<device>[^()]{1,100})\))?",
    ),
    _pattern(
        Event.FINISHED,
        "Body::finish",
        r"ExecutionPlan::\w+Body::finish: compilation finished successfully(?: on (?P<device>\S{1,100}))?",
    ),
    _pattern(Event.RUNTIME_ERROR, "No driver can do", r"No driver can do (?:operation (?P<op>\w{1,100})|the op)"),
    _pattern(
        Event.RUNTIME_ERROR,
        "getSupportedOperations",
        r"getSupportedOperations(?:_\d_\d)? (?:failed|failure|returned)[^\n]{0,300}",
    ),
    _pattern(
        Event.RUNTIME_ERROR,
        "hal_neuralnetworks",
        r"avc: +denied .{0,400}\bhal_neuralnetworks.*",
        meaning="Android's access control (SELinux) does not let the driver do this",
    ),
    _pattern(
        Event.RUNTIME_ERROR,
        "prepareModel",
        r"prepareModel(?:_\d_\d)?(?:FromCache)?(?: on \S{1,100})? (?:failed|failure|returned)\b[^\n]{0,300}",
    ),
    _pattern(
        Event.RUNTIME_ERROR,
        "ANeuralNetworks",
        r"ANeuralNetworks(?:Model|Compilation|Execution)_\w{1,60} (?:called on|passed|can't|setting|Can't|exceed|invalid)"
        r"[^\n]{0,300}",
    ),
    _pattern(Event.RUNTIME_ERROR, "Invalid Operation: ", r"Invalid Operation: [^\n]{0,400}"),
    _pattern(Event.INTERFACE, "Found interface", r"Found interface (?P<device>\S{1,100})"),
    _pattern(
        Event.DRIVER_REFUSAL,
        "is not supported",
        r"\{(?P<op>[A-Z][A-Z0-9_]{1,80}), (?P<type>[A-Z][A-Z0-9_]{1,80})\} is not supported",
    ),
    _pattern(Event.RUNTIME, "hardware.neuralnetworks", r"android\.hardware\.neuralnetworks@[\w.@-]{1,80}"),
    _pattern(
        Event.WARNED,
        "adapter API exists",
        r"Neuron adapter API exists: 0",
        meaning="the device has no Neuron adapter, so MediaTek's delegate uses Android's neural networks runtime",
    ),
    _pattern(Event.WARNED, "Applied 0 ", r"Applied 0 delegates\b.*", meaning="no delegate took a node; all nodes run on the CPU"),
    _pattern(Event.VERSION_SAID, "Selected adapter", r"Selected (?P<what>adapter): (?P<version>.{1,200})"),
    _pattern(
        Event.NOTED,
        "layout inference pass",
        r"\bOp \d{1,6}: default layout inference pass\.?",
        name=VX_KERNEL,
        meaning="VeriSilicon's library has no layout rule for this operator, so it may insert transposes, which take time",
    ),
    _pattern(
        Event.APPLIED,
        "Successfully applied the default",
        r"Successfully applied the default TensorFlow Lite delegate\b.*",
        name=CPU_LIBRARY_SPEAKER,
    ),
    _pattern(
        Event.NOTED,
        "Requested unknown backend",
        r"(?P<name>\w{1,40}): Requested unknown backend (?P<backend>\w{1,40})",
        meaning="this build of the library lacks the backend, so the delegate uses only the other backends that are requested; "
        "build the library with the backend, or load the backend beside it",
    ),
    _pattern(
        Event.PROGRESS,
        "with args: ",
        r"Loading external delegate from \S{1,300} with args: \{(?P<options>[^{}]{0,400})\}",
    ),
    _pattern(Event.APPLIED, "Applied ", r"^\s*Applied (?:Delegate_Provider_)?(?P<name>\w{1,60}) delegate\.?"),
    _pattern(Event.KERNELS, "delegate kernels", rf"Created (?P<count>{_N}) (?P<name>\w{{1,40}}) delegate kernels\.?"),
    _pattern(Event.EXECUTED, "nodes executed", rf"Number of nodes executed: (?P<count>{_N})"),
    _pattern(Event.SAID, "Delegate, ", r"Loaded (?P<name>\w{1,40}) Delegate,"),
    _pattern(Event.SAID, "elegate: ", r"^\s*(?P<name>TfLite\w{1,60}Delegate|\w{1,60} [Dd]elegate): (?P<what>.*)"),
)
"""The patterns of all kinds of lines, most specific pattern first."""

_PROGRESS = re.compile(
    r"Initialized TensorFlow Lite runtime|external tensors "
    r"are used for delegate|See instructions: |"
    r"The input model file size|Initialized session in|Running benchmark for|count=\d{1,12} |Timings \(microseconds\)|"
    r"Memory (?:footprint|usage)|Overall peak memory|Note: as the benchmark|Peak memory|"
    r"Applying \d{1,4} .{0,80}delegate|Duplicate flags|Explicitly applied|invoked$|average time ?:|"
    r"^idx +(?:type|scale) |^ *\d+ +\d+\.\d+ +[0-9a-f]+ +(?:yes|no) +\d+x\d+x|^ *\d+ [A-Z]{2,12} +[\d,]+ +[\d,]+ *$|"
    r"Loading external delegate from |No delegates specified; |Populating InferByLayer results|Applied \d{1,4} delegates: |"
    r"Error in cpuinfo: |Profiling Info|Top by (?:Computation Time|Memory)|\[[Nn]ode type\]|loaded lib|resolved reporter"
)
_MEASURED = re.compile(r"Inference timings|Average inference timings")
"""Matches lines that benchmark_model prints after the model has run, and at no other time."""
_RUNTIME_TAGS = frozenset(
    {"Manager", "ModelBuilder", "ExecutionPlan", "ExecutionBuilder", "CompilationBuilder", "Memory", "TypeManager",
     "ExecutionStep", "StepExecutor", "NeuralNetworks", "CpuExecutor", "Utils", "GraphDump", "BurstBuilder",
     "VersionedInterfaces", "Event"}
)  # fmt: skip
"""Logcat tags that Android's NNAPI runtime uses if ``debug.nn.vlog`` is set."""
_RUNTIME_WORDS = re.compile(
    r"\b(?:ModelBuilder|ExecutionPlan|ExecutionBuilder|CompilationBuilder|DeviceManager|ExecutionStep|IDevice|IPreparedModel)::|"
    r"NN\w{0,80} SL driver|SL_ANeuralNetworks"
)
_LITERT_TAGS = frozenset({"litert"})
_LITERT_WORDS = re.compile(r"^(?:\w+ )*LiteRT environment|compiler plugins|dispatch_library_path|compiler_plugin_library_path")
_KNOWN_REASON = re.compile(
    r"Operation is not supported\.|OP is supported, but |tensor type (?:error|isn't matched)|Not supported op \w+|"
    r"Expected \d+ (?:runtime|const)|Max version supported: |Op can only |No support of |Only (?:support|identical)|"
    r"Not supported cast case"
)
"""Matches the reasons in GPU delegates' lists of refused operators."""


def is_reason(text: str) -> bool:
    """Return whether a text is a reason that a GPU delegate gives for a refused operator."""
    return _KNOWN_REASON.match(text) is not None


_VENDOR = re.compile(r"\bQnn\w{0,40}\b.{0,200}(?:<[EWIVD]>|\[)|^\[Qnn\]|unnhal", re.IGNORECASE)
_OWN_TAGS = frozenset({"tflite", "litert", "litertlm"})
_FAILED_TO = re.compile(r"(?:Failed to|Could not|Cannot|Unable to|Error:|No usable|No dispatch library) ?.*", re.DOTALL)


_FAILURE_WORDS = re.compile(
    r"(?i:\b(?:failed|failure|fails?|error|could ?n[o']t|cannot|can't|unable to|abort(?:ed|ing)?|traceback|panic(?:'ed)?|"
    r"segfault|uncaught)\b|\w(?:exception|error)\b: )|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE|KILL)\b"
)
_NO_WORDS = re.compile(r"\W*|\s*raise \w.*|\s*#\d{1,3}\s{3,}\S.*|\s*<asynchronous suspension>\s*", re.DOTALL)
"""Matches lines that say nothing: marks under a compiler's line, and the source text and frames in a traceback."""
_NO_FAILURE = re.compile(r"^└ |(?i:\b(?:no|0|without|if|ignore) (?:any )?(?:errors?|failures?|fail)\b)|^\s*at [\w.$]{1,200}\(")


def is_plain_failure(text: str, severity: str) -> bool:
    """Return whether a line plainly shows a failure, although nothing is known about the line."""
    spend_steps(len(text) // CHARACTERS_IN_A_STEP + 1, "reading the log")
    if severity not in ("", "E", "F") or _NO_WORDS.fullmatch(text) is not None or _NO_FAILURE.search(text) is not None:
        return False
    return bool(severity) or _FAILURE_WORDS.search(text) is not None


def statement_of(text: str) -> tuple[Statement, Pattern, int] | None:
    """Return the first statement in a line, the matched pattern, and the end of the match.

    Return None if no pattern matches.
    """
    steps = len(text) // CHARACTERS_IN_A_STEP + 1
    spend_steps(steps, "reading the log")
    if _NO_WORDS.fullmatch(text) is not None:
        return None
    first: tuple[re.Match[str], Pattern] | None = None
    for pattern in PATTERNS:
        if pattern.needle not in text:
            continue
        spend_steps(steps, "reading the log")
        candidate = pattern.form.search(text)
        if candidate is not None and (first is None or candidate.start() < first[0].start()):
            first = candidate, pattern
    if first is None:
        return None
    match, pattern = first
    values = {key: value for key, value in match.groupdict().items() if value is not None}
    values |= {key: re.sub(r"\D", "", values[key]) for key in _COUNTS if key in values}
    if pattern.name:
        values.setdefault("name", pattern.name)
    for other in ("two", "three"):  # a name may be in several places of a form
        if other in values:
            values["name"] = values.pop(other)
    if pattern.meaning:
        values["meaning"] = pattern.meaning
    end = match.start("doing") if "doing" in values else match.end()
    return Statement(pattern.kind, match[0].strip(), MappingProxyType(values)), pattern, max(end, match.start() + 1)


def loose_statement(text: str, tag: str, severity: str, source: str) -> Statement | None:
    """Return a statement for a line that no pattern matches, based on the program that printed the line.

    Return None if the line has nothing to do with delegates.
    """
    line = text.strip()
    if _NO_WORDS.fullmatch(line) is not None:
        return None
    if severity in ("E", "F") and (tag in _RUNTIME_TAGS or _RUNTIME_WORDS.search(line)):
        return Statement(Event.RUNTIME_ERROR, line, MappingProxyType({}))
    if source and severity == "W" and _FAILED_TO.match(line):
        return Statement(Event.WARNED, line, MappingProxyType({"source": source}))
    is_error = severity in ("E", "F") or bool(source and not severity and _FAILED_TO.match(line))
    if is_error and (source or tag in _OWN_TAGS or not tag) and _VENDOR.search(line) is None:
        kind = Event.FAILURE if _FAILED_TO.match(line) else Event.OTHER_ERROR
        return Statement(kind, line, MappingProxyType({"source": source} if source else {}))
    for kind, is_one in (
        (Event.MEASURED, _MEASURED.search(line)),
        (Event.PROGRESS, _PROGRESS.search(line)),
        (Event.RUNTIME, tag in _RUNTIME_TAGS or _RUNTIME_WORDS.search(line)),
        (Event.VENDOR, tag.lower().startswith(("qnn", "hta")) or _VENDOR.search(line)),
        (Event.LITERT, source or tag in _LITERT_TAGS or _LITERT_WORDS.search(line)),
    ):
        if is_one:
            return Statement(kind, line, MappingProxyType({"source": source} if source else {}))
    return None
