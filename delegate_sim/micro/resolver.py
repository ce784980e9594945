"""Generate the lines of C++ that register operators, or read from C++ source which operators an application registers.

Macros are not expanded. If the value of a condition such as ``#ifdef NAME`` is unknown, the code of all branches stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from ..errors import LimitError, OptionError
from ..foundation.files import naming_file, read_whole
from ..foundation.printable import item_list, printable, shortened
from ..foundation.work_budget import spend_steps
from ..model.ethosu_programs import ETHOS_U
from ..model.model import Node
from ..rules.rule import Reason
from .target import MISSING_OPERATOR, MicroTarget, reason

_LARGEST_SOURCE = 1 << 22
_READING = "reading C++ source"
_STEPS_OF_A_STRING = 4
_SPLICE = re.compile(r"\\\r?\n")
_TOKENS = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\((?P<raw>.*?)(?:\)(?P=mark)"|\Z)
  | (?:u8|[uUL])?"(?P<string>[^"\\\n]*(?:\\.[^"\\\n]*)*)"?
  | (?P<character>'[^'\\\n]*(?:\\.[^'\\\n]*)*'?)
  | \d[\w.]*(?:'[\w.]+)*
  | \w+
    """,
    re.VERBOSE | re.DOTALL,
)
"""Comments and literals, and text in which a quote does not start a literal: numbers such as ``1'000``, and words."""
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)(.*)")
_LITERAL_CONDITIONS = {"0": False, "false": False, "1": True, "true": True}


@dataclass(frozen=True, slots=True)
class CppSource:
    """The code of a C++ file, and its string literals."""

    code: str
    """The code in one line, with single spaces. The string literal with index N of ``strings`` is written as ``"N"``."""
    strings: tuple[str, ...]

    def string(self, literals: str) -> str:
        """Return the text of one or more adjacent literals of ``code``."""
        return "".join(self.strings[int(index)] for index in re.findall(r"\d+", literals))


def read_cpp(text: str) -> CppSource:
    """Return the code that the compiler may see, and the string literals of the whole text. Raises LimitError."""
    spend_steps(len(text), _READING)  # a token may be a single character
    strings: list[str] = []

    def replacement(token: re.Match[str]) -> str:
        if token["comment"] is not None or token["character"] is not None:
            return " "
        if token["raw"] is None and token["string"] is None:
            return token[0]
        spend_steps(_STEPS_OF_A_STRING, _READING)
        strings.append(_unescaped(token["string"]) if token["raw"] is None else token["raw"])
        return f'"{len(strings) - 1}"'

    code = _TOKENS.sub(replacement, _SPLICE.sub("", text))
    return CppSource(" ".join(_without_skipped_branches(code).split()), tuple(strings))


def _unescaped(literal: str) -> str:
    try:
        return str(json.loads(f'"{literal}"'))
    except ValueError:
        return literal


@dataclass(slots=True)
class _Conditional:
    is_kept: bool
    """Whether the current branch may be compiled."""
    is_decided: bool
    """Whether the current branch or an earlier branch is always compiled. Later branches are then never compiled."""


def _without_skipped_branches(code: str) -> str:
    """Return code without the branches that are never compiled because of a literal condition, such as ``#if 0``."""
    lines: list[str] = []
    conditionals: list[_Conditional] = []
    skipped = 0  # the number of conditionals whose current branch is never compiled
    for line in code.split("\n"):
        directive = _DIRECTIVE.match(line)
        word = directive[1] if directive else ""
        value = _LITERAL_CONDITIONS.get(directive[2].strip(" \t\r()")) if directive and word in ("if", "elif") else None
        if word in ("if", "ifdef", "ifndef"):
            conditionals.append(_Conditional(value is not False, value is True))
            skipped += not conditionals[-1].is_kept
        elif word == "endif":
            if conditionals:
                skipped -= not conditionals.pop().is_kept
        elif word in ("elif", "elifdef", "elifndef", "else"):
            if conditionals:
                last = conditionals[-1]
                skipped -= not last.is_kept
                last.is_kept = value is not False and not last.is_decided
                last.is_decided = last.is_decided or value is True
                skipped += not last.is_kept
        elif not skipped:
            lines.append(line)
    return "\n".join(lines)


_BUILTIN = """
ABS:Abs ADD:Add ADD_N:AddN ARG_MAX:ArgMax ARG_MIN:ArgMin ASSIGN_VARIABLE:AssignVariable AVERAGE_POOL_2D:AveragePool2D
BATCH_MATMUL:BatchMatMul BATCH_TO_SPACE_ND:BatchToSpaceNd BROADCAST_ARGS:BroadcastArgs BROADCAST_TO:BroadcastTo
CALL_ONCE:CallOnce CAST:Cast CEIL:Ceil CONCATENATION:Concatenation CONV_2D:Conv2D COS:Cos CUMSUM:CumSum
DEPTH_TO_SPACE:DepthToSpace DEPTHWISE_CONV_2D:DepthwiseConv2D DEQUANTIZE:Dequantize DIV:Div
DYNAMIC_UPDATE_SLICE:DynamicUpdateSlice EMBEDDING_LOOKUP:EmbeddingLookup ELU:Elu EQUAL:Equal EXP:Exp EXPAND_DIMS:ExpandDims
FILL:Fill FLOOR:Floor FLOOR_DIV:FloorDiv FLOOR_MOD:FloorMod FULLY_CONNECTED:FullyConnected GATHER:Gather GATHER_ND:GatherNd
GREATER:Greater GREATER_EQUAL:GreaterEqual HARD_SWISH:HardSwish IF:If L2_NORMALIZATION:L2Normalization L2_POOL_2D:L2Pool2D
LEAKY_RELU:LeakyRelu LESS:Less LESS_EQUAL:LessEqual LOG:Log LOGICAL_AND:LogicalAnd LOGICAL_NOT:LogicalNot LOGICAL_OR:LogicalOr
LOGISTIC:Logistic LOG_SOFTMAX:LogSoftmax MAXIMUM:Maximum MAX_POOL_2D:MaxPool2D MIRROR_PAD:MirrorPad MEAN:Mean MINIMUM:Minimum
MUL:Mul NEG:Neg NOT_EQUAL:NotEqual PACK:Pack PAD:Pad PADV2:PadV2 PRELU:Prelu QUANTIZE:Quantize READ_VARIABLE:ReadVariable
REDUCE_ALL:ReduceAll REDUCE_MAX:ReduceMax REDUCE_MIN:ReduceMin RELU:Relu RELU6:Relu6 RESHAPE:Reshape
RESIZE_BILINEAR:ResizeBilinear RESIZE_NEAREST_NEIGHBOR:ResizeNearestNeighbor REVERSE_V2:ReverseV2 ROUND:Round RSQRT:Rsqrt
SELECT_V2:SelectV2 SHAPE:Shape SIN:Sin SLICE:Slice SOFTMAX:Softmax SPACE_TO_BATCH_ND:SpaceToBatchNd
SPACE_TO_DEPTH:SpaceToDepth SPLIT:Split SPLIT_V:SplitV SQUEEZE:Squeeze SQRT:Sqrt SQUARE:Square
SQUARED_DIFFERENCE:SquaredDifference STRIDED_SLICE:StridedSlice SUB:Sub SUM:Sum SVDF:Svdf TANH:Tanh
TRANSPOSE_CONV:TransposeConv TRANSPOSE:Transpose UNPACK:Unpack UNIDIRECTIONAL_SEQUENCE_LSTM:UnidirectionalSequenceLSTM
VAR_HANDLE:VarHandle WHILE:While ZEROS_LIKE:ZerosLike
"""
_CUSTOM = """
CIRCULAR_BUFFER:CircularBuffer TFLM_DECODE:Decode SignalDelay:Delay TFLite_Detection_PostProcess:DetectionPostprocess
SignalEnergy:Energy SignalFftAutoScale:FftAutoScale SignalFilterBank:FilterBank SignalFilterBankLog:FilterBankLog
SignalFilterBankSquareRoot:FilterBankSquareRoot SignalFilterBankSpectralSubtraction:FilterBankSpectralSubtraction
SignalFramer:Framer SignalIrfft:Irfft SignalOverlapAdd:OverlapAdd SignalPCAN:PCAN SignalRfft:Rfft SignalStacker:Stacker
SignalWindow:Window
"""
"""Pairs of an operator and the name of the function that registers it. The prefix ``Add`` of the name is omitted."""


def _functions(words: str) -> Mapping[str, str]:
    return MappingProxyType({op: f"Add{name}" for op, name in (pair.split(":") for pair in words.split())})


BUILTIN_FUNCTIONS = _functions(_BUILTIN)
"""For each builtin operator, the function of ``MicroMutableOpResolver`` that registers it (``micro_mutable_op_resolver.h``)."""
CUSTOM_FUNCTIONS = MappingProxyType({**_functions(_CUSTOM), ETHOS_U: "AddEthosU"})
"""For each custom operator that has a kernel in the runtime, the function that registers the operator."""
_OPERATORS = MappingProxyType({function: op for op, function in (*BUILTIN_FUNCTIONS.items(), *CUSTOM_FUNCTIONS.items())})

_LITERALS = r'((?:"\d{1,9}" ?)+)'
"""Adjacent string literals, in the form of ``CppSource.code``."""
_INDEX = re.compile(r'"(\d{1,9})"')
_CALL = re.compile(
    rf"(?:\b(\w+) ?(?:\.|->) ?)?\b(Add[A-Z]\w*) ?(?:<[^<>;]*> ?)?"
    rf"\( ?(?:{_LITERALS}|(?:tflite ?:: ?)?(?:BuiltinOperator_(\w+)|(?:\w+ ?:: ?)*(\w+)))?"
)
_CONSTANT = re.compile(rf"\b(\w+) ?(?:\[\w*\] ?)?(?:= ?)?(?:{_LITERALS}|(\d{{1,9}})\b)")
_RESOLVER = re.compile(r"MicroMutableOpResolver ?< ?(\w+) ?>(?: ?(\w+))?")
"""The size of a resolver, and its name. A reference or a pointer has no name here: it may be any of the resolvers."""
_INTERPRETER = re.compile(r"MicroInterpreter\b(?: ?\w+)? ?[({] ?[^,;]{0,200}, ?[*&]? ?(\w+)")
_STOPS = re.compile(r"(?:!= ?(?:\w+ ?:: ?){0,4}kTfLiteOk ?&&|== ?(?:\w+ ?:: ?){0,4}kTfLiteOk ?\|\|)[ (]*$")
"""The text between two calls of a condition that stops at the first call that succeeds."""
_LONGEST_CONDITION = 200
_ALL = re.compile(r"\b(?:AllOpsResolver|PythonOpsResolver)\b")


def is_known(node: Node) -> bool:
    """Return whether every build of the runtime, with or without Arm's driver, has a kernel for a node's operator."""
    if node.is_custom:
        return node.custom_code in CUSTOM_FUNCTIONS and node.custom_code != ETHOS_U
    return node.op in BUILTIN_FUNCTIONS


def operator_name(node: Node) -> str:
    """Return the name of a node's operator, or the custom code of a custom operator."""
    return (node.custom_code or "") if node.is_custom else node.op


def lacks(node: Node, target: MicroTarget) -> Reason | None:
    """Return the reason why the resolver has no kernel for a node, or None if the resolver has a kernel."""
    name = operator_name(node)
    is_registered = is_known(node) if target.registered is None else name in target.registered
    if is_registered:
        return None
    function = Operator(name, node.is_custom).function
    words = shortened(f"custom operator {name}" if node.is_custom else name)
    if name in target.without_room:
        lacking = f"{words}, for which the resolver has no room"
        hint = f"write MicroMutableOpResolver<{target.attempted}>"
    elif function:
        lacking = f"{words}, which is not registered"
        hint = f"add resolver.{function}()"
    else:
        lacking = f"{words}, for which the runtime has no kernel"
        hint = f'register your own kernel with resolver.AddCustom("{shortened(name)}", ...)' if node.is_custom else ""
    return reason(MISSING_OPERATOR, lacking, "an operator that the resolver has", hint)


class Operator(NamedTuple):
    """An operator of a model. The ``name`` of a custom operator is its custom code."""

    name: str
    is_custom: bool

    @property
    def function(self) -> str | None:
        """The function that registers the runtime's kernel; None if the runtime has no kernel."""
        return (CUSTOM_FUNCTIONS if self.is_custom else BUILTIN_FUNCTIONS).get(self.name)


def operators_of(nodes: Iterable[Node]) -> tuple[Operator, ...]:
    """Return the distinct operators of nodes, sorted by name."""
    return tuple(sorted({Operator(operator_name(node), node.is_custom) for node in nodes}))


def resolver_lines(operators: Sequence[Operator], variables: int = 0) -> tuple[str, ...]:
    """Return C++ lines that create a resolver with the operators of a model.

    The resolver also has room for operators without a kernel in the runtime. If such an operator is custom, a line registers the
    application's own kernel. If it is builtin, the application cannot register a kernel, because ``AddBuiltin`` is private.

    If the model has variables, further lines create them. VAR_HANDLE cannot be prepared without them (``VarHandlePrepare``).
    """
    lines = [f"tflite::MicroMutableOpResolver<{max(len(operators), 1)}> resolver;"]
    for operator in operators:
        if operator.function is not None:
            lines.append(f"resolver.{operator.function}();")
        elif operator.is_custom:
            name = json.dumps(operator.name, ensure_ascii=True)
            lines.append(f"resolver.AddCustom({name}, /* your kernel */);")
        else:
            lines.append(f"// {operator.name}: no kernel in TensorFlow Lite Micro")
    if variables:
        lines += [
            "tflite::MicroAllocator* allocator = tflite::MicroAllocator::Create(tensor_arena, tensor_arena_size);",
            f"auto* variables = tflite::MicroResourceVariables::Create(allocator, {variables});",
            "tflite::MicroInterpreter interpreter(model, resolver, allocator, variables);",
        ]
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class ResolverSource:
    """The operators that an application's source registers. ``registered`` is None for all operators of the runtime."""

    registered: tuple[str, ...] | None
    """The names of the operators, in the order of the calls."""
    size: int | None
    """The capacity of the resolver. None if the source does not give the capacity, or has several resolvers."""
    unknown: tuple[str, ...] = ()
    """The names of called functions that look like registrations of operators, but that the runtime does not have."""
    unreadable: tuple[str, ...] = ()
    """The calls of ``AddCustom`` whose name is neither a literal nor a constant of the source, without their last arguments."""
    path: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.path

    @property
    def without_room(self) -> tuple[str, ...]:
        """The operators whose calls fail because the resolver is full."""
        return () if self.registered is None or self.size is None else self.registered[self.size :]

    def registered_in(self, target: MicroTarget) -> MicroTarget:
        """Return the target with these operators."""
        without_room = frozenset(self.without_room)
        registered = None if self.registered is None else frozenset(self.registered) - without_room
        return replace(target, registered=registered, without_room=without_room, source=self)


def read_resolver(path: str) -> ResolverSource:
    """Read the operators that a C++ source registers. Raises OptionError with the path."""
    with naming_file(path, OptionError):
        text = read_whole(path, _LARGEST_SOURCE).decode("utf-8", "replace")
    try:
        return replace(parse_resolver(text), path=path)
    except OptionError as error:
        raise OptionError(printable(f"{path} {error}")) from error


def parse_resolver(text: str) -> ResolverSource:
    """Read the ``Add...()`` calls of C++ source. Raise OptionError if there are none, or if the source is too large.

    Calls in comments, in string literals and after ``#if 0`` are ignored. So are calls that a condition skips because an earlier
    call succeeds, and calls on resolvers that no interpreter gets.
    """
    try:
        source = read_cpp(text)
    except LimitError as error:
        raise OptionError(f"cannot be read: {error.reason}") from error
    constants = _constants(source)
    registered: dict[str, None] = {}
    unknown: dict[str, None] = {}
    unreadable: dict[str, None] = {}
    resolvers = {name: size for size, name in _RESOLVER.findall(source.code) if name}
    used = resolvers.keys() & set(_INTERPRETER.findall(source.code))
    if len(used) > 1:
        raise OptionError(
            f"has interpreters with different resolvers ({', '.join(sorted(map(shortened, used)))}): give one of them"
        )
    unused = resolvers.keys() - used if used else set()
    end = 0
    for match in _CALL.finditer(source.code):
        resolver, function, literals, builtin, constant = match.groups("")
        between, end = source.code[end : match.start()], match.end()
        if resolver in unused or (";" not in between and _STOPS.search(between[-_LONGEST_CONDITION:])):
            continue
        if function in _OPERATORS:
            registered[_OPERATORS[function]] = None
        elif function == "AddBuiltin" and builtin:
            registered[builtin] = None
        elif function == "AddCustom":
            if name := source.string(literals) or constants.get(constant):
                registered[name] = None
            else:
                unreadable[_first_argument(source, match)] = None
        else:
            unknown[function] = None
    if _ALL.search(source.code) and not registered:
        return ResolverSource(None, None)
    if unreadable and not registered:
        calls = item_list(list(unreadable), _LONGEST_CONDITION)
        raise OptionError(f"registers only operators whose names it does not have: {calls}. Write each name as a string literal")
    if not registered:
        raise OptionError("has no call such as resolver.AddConv2D() that registers an operator")
    sizes = [resolvers[name] for name in used] or [size for size, _ in _RESOLVER.findall(source.code)]
    size = constants.get(sizes[0], sizes[0]) if len(sizes) == 1 else ""
    capacity = int(size[:9]) if size.isdecimal() else None
    return ResolverSource(tuple(registered), capacity, tuple(unknown), tuple(unreadable))


def _first_argument(source: CppSource, call: re.Match[str]) -> str:
    """Return the text of a call up to its first argument, such as ``AddCustom(kName, ...)``."""
    start = call.start(2)
    text = re.split(r"[,;]", source.code[start : start + _LONGEST_CONDITION])[0]
    text = _INDEX.sub(lambda index: json.dumps(source.strings[int(index[1])]), text)
    return f"{shortened(text.strip())}, ...)"


def _constants(source: CppSource) -> dict[str, str]:
    constants = {"GetString_ETHOSU": ETHOS_U}
    for name, literals, number in _CONSTANT.findall(source.code):
        constants.setdefault(name, number or source.string(literals))
    return constants
