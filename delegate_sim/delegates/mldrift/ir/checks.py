"""What the functions of this path ask alike, and what they say of a node that does not meet it.

Source: ``ml_drift_delegate/tflite/support/support_aux.cc`` and ``support_aux.h``. A function says which of its tensors it means,
by names of its own: ``inputs[0]`` in one, ``weights`` in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....named_tuples import NamedTuple
from ....rules import kinds
from ....rules.numbers import Numbers, allowed_numbers, between, counted, listed
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import check, operand_count, version, where
from ...gpu_compatibility.checks import Found, asked, joined
from ..demands.checks import Checks
from ..demands.reading import shape_of_constant
from ..naming import type_number

_FOLDER = "ml_drift_delegate/tflite/support"
SOURCE = Source(LITERT, f"{_FOLDER}/support.cc", "IsNodeSupported")
_SHARED = Source(LITERT, f"{_FOLDER}/support_aux.cc", "CheckInputOutputCounts")
_POPULATE = Source(LITERT, f"{_FOLDER}/support_aux.h", "CheckPopulateTensor")

HALF = ("FLOAT32", "FLOAT16")
FLOATS = (*HALF, "BFLOAT16")
BYTES = (*FLOATS, "INT8", "UINT8")
INTEGERS = ("INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32")
MOVED = (*FLOATS, *INTEGERS, "BOOL")
"""Types of operators that only move elements."""
FEW = (*HALF, "INT32", "INT8", "UINT8", "BOOL")
INT32 = ("INT32",)


def support(file: str, symbol: str) -> Source:
    """Return the place of the function that judges an operator."""
    return Source(LITERT, f"{_FOLDER}/support_{file}.cc", symbol)


def rule(file: str, symbol: str, *checks: Check[object]) -> OpRule[object]:
    """Return the rule of an operator that a function judges; checks that name no place are the function's."""
    place = support(file, symbol)
    return OpRule(tuple([each if each.source else each.from_source(place) for each in checks]), source=(place,))


class Part(NamedTuple):
    """An operand or a result: what a function calls it, and where it is."""

    said: str
    position: int
    is_result: bool = False

    def of(self, node: NodeView) -> Tensor:
        """Return the tensor of a node."""
        return node.output(self.position) if self.is_result else node.input(self.position)

    def is_given(self, node: NodeView) -> bool:
        """Whether the node has it."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        return self.position < len(indices) and indices[self.position] >= 0

    @property
    def words(self) -> str:
        """What it is called in words."""
        return f"{'output' if self.is_result else 'input'} {self.position}"


def entry(position: int, said: str = "") -> Part:
    """Return an operand."""
    return Part(said or f"inputs[{position}]", position)


def outcome(position: int = 0, said: str = "") -> Part:
    """Return a result."""
    return Part(said or f"outputs[{position}]", position, is_result=True)


FIRST, SECOND, THIRD, RESULT = entry(0), entry(1), entry(2), outcome()


# Numbers


def versions(allowed: int | Numbers, said: str = "Unsupported version: {}") -> Check[object]:
    """Demand a version among these; ``said`` may have a place for the version found."""
    return version(allowed).saying(lambda node: said.format(node.version))


def versions_between(most: int, said: str = "Unsupported version: {}") -> Check[object]:
    """Demand a version from 1 to another."""
    return versions(between(1, most) if most > 1 else 1, said)


def inputs(allowed: int | Numbers, said: str = "Invalid number of inputs: {}") -> Check[object]:
    """Demand a number of entries for operands."""
    return operand_count(allowed_numbers(allowed)).saying(lambda node: said.format(len(node.node.inputs)))


def outputs(allowed: int, said: str = "Invalid number of outputs: {}") -> Check[object]:
    """Demand a number of results."""
    return operand_count(outputs=allowed).saying(lambda node: said.format(len(node.node.outputs)))


def counts(expected: int | None, results: int | None = 1) -> Checks:
    """``CheckInputOutputCounts``; without one of the numbers any will do."""
    said = "Invalid number of {}: {{}}, while expected {}."
    found = (
        *(() if expected is None else (inputs(expected, said.format("inputs", expected)),)),
        *(() if results is None else (outputs(results, said.format("outputs", results)),)),
    )
    return tuple([each.from_source(_SHARED) for each in found])


# Tensors as such

NamedTensors = Callable[[NodeView], Sequence[tuple[str, Tensor]]]


def given(*parts: Part) -> Checks:
    """``ValidateTensorId`` of single tensors."""
    return tuple([_given(f"{part.words}", _indices_of(part)) for part in parts])


def all_given(side: str = "inputs", result_side: str = "outputs") -> Checks:
    """``ValidateTensorIds`` of all operands, then of all results."""
    return (
        _given("all inputs", lambda node: _indices(side, node.node.inputs)),
        _given("all outputs", lambda node: _indices(result_side, node.node.outputs)),
    )


def _indices(side: str, indices: Sequence[int]) -> Iterator[tuple[str, int]]:
    return ((f"{side}[{position}]", index) for position, index in enumerate(indices))


def _index(node: NodeView, part: Part) -> tuple[str, int]:
    indices = node.node.outputs if part.is_result else node.node.inputs
    return part.said, indices[part.position] if part.position < len(indices) else -1


def _given(needed: str, indices_of: Callable[[NodeView], Sequence[tuple[str, int]] | Iterator[tuple[str, int]]]) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        for name, index in indices_of(node):
            if index < 0:
                limit = len(node.graph.tensors)
                return Found(f"no {name}", f"Invalid tensor ID for {name}: {index}, which should be in [0, {limit})")
        return None

    found = asked(kinds.OPERAND_COUNT, needed, find, "give the operator all of its operands")
    return found.from_source(_SHARED.with_symbol("ValidateTensorId"))


def _indices_of(part: Part) -> Callable[[NodeView], Sequence[tuple[str, int]]]:
    return lambda node: [_index(node, part)]


def _alone(part: Part) -> NamedTensors:
    return lambda node: [(part.said, part.of(node))]


def typed_parts(types: Sequence[str], *parts: Part) -> Checks:
    """``CheckTensorDtype`` of tensors in order; constants count as all others."""
    return tuple([_typed(part.words, types, _alone(part)) for part in parts])


def typed_inputs(types: Sequence[str]) -> Check[object]:
    """``CheckTensorDtype`` of all operands."""
    return _typed("all inputs", types, lambda node: _named("inputs", node.inputs))


def typed_outputs(types: Sequence[str]) -> Check[object]:
    """``CheckTensorDtype`` of all results."""
    return _typed("all outputs", types, lambda node: _named("outputs", node.outputs))


def _named(side: str, tensors: Sequence[Tensor]) -> list[tuple[str, Tensor]]:
    return [(f"{side}[{position}]", tensor) for position, tensor in enumerate(tensors)]


def _typed(words: str, types: Sequence[str], tensors_of: NamedTensors) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        for name, tensor in tensors_of(node):
            if tensor.type not in types:
                return Found(f"{name} is {tensor.type}", f"Unsupported dtype for {name}: {type_number(tensor.type)}")
        return None

    found = asked(kinds.TENSOR_TYPE, f"{words} of type {listed(types)}, constants included", find)
    return found.from_source(_SHARED.with_symbol("CheckTensorDtype"))


def ranked_parts(least: int, most: int, *parts: Part) -> Checks:
    """``CheckTensorDims`` of tensors in order."""
    return tuple([_ranked(part.words, least, most, _alone(part)) for part in parts])


def ranked_inputs(least: int, most: int) -> Check[object]:
    """``CheckTensorDims`` of all operands."""
    return _ranked("all inputs", least, most, lambda node: _named("inputs", node.inputs))


def ranked_outputs(least: int, most: int) -> Check[object]:
    """``CheckTensorDims`` of all results."""
    return _ranked("all outputs", least, most, lambda node: _named("outputs", node.outputs))


def _ranked(words: str, least: int, most: int, tensors_of: NamedTensors) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        for name, tensor in tensors_of(node):
            if not least <= tensor.rank <= most:
                expected = f"while expected to be in [{least}, {most}]."
                said = f"Invalid number of dimensions for {name}: {tensor.rank}, {expected}"
                return Found(f"{name} of rank {tensor.rank}", said)
        return None

    needed = f"{words} of rank {least if least == most else f'{least} to {most}'}"
    return asked(kinds.RANK, needed, find).from_source(_SHARED.with_symbol("CheckTensorDims"))


def computed(*parts: Part) -> Checks:
    """``CheckNotConstant``."""
    return tuple([_allocated(part, is_constant=False) for part in parts])


def stored(*parts: Part) -> Checks:
    """``CheckIsConstant``."""
    return tuple([_allocated(part, is_constant=True) for part in parts])


def _allocated(part: Part, *, is_constant: bool) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        if part.of(node).is_constant == is_constant:
            return None
        said = f"{part.said} should {'' if is_constant else 'not '}be a constant tensor."
        return Found(f"{part.words} is {'not ' if is_constant else ''}constant", said)

    needed = f"{part.words} {'constant' if is_constant else 'computed at run time'}"
    symbol = "CheckIsConstant" if is_constant else "CheckNotConstant"
    return asked(kinds.CONSTANT, needed, find).from_source(_SHARED.with_symbol(symbol))


def shaped(part: Part, shape: str) -> Check[object]:
    """``CheckPopulateTensor`` of a constant that is read as integers; of one that is read as float nothing is asked."""
    return shape_of_constant(part.position, shape).from_source(_POPULATE)


def optional(part: Part, *checks: Check[object]) -> Checks:
    """Return these checks for nodes that have an optional operand."""
    return where(part.is_given, "if given", *checks)


def optional_entry(part: Part, *checks: Check[object]) -> Checks:
    """Return these checks for nodes with an entry for an optional operand."""
    return where(lambda node: part.position < len(node.node.inputs), "if given", *checks)


# Shapes


def one_shape(said: str, *parts: Part) -> Check[object]:
    """Demand tensors of one shape."""

    def find(node: NodeView) -> Found | None:
        found = [part.of(node).shape for part in parts]
        return None if len(set(found)) == 1 else Found(f"shapes {_listed(found)}", said.format(*map(joined, found)))

    return asked(kinds.SHAPE, f"{listed([part.words for part in parts]).replace(' or ', ' and ')} of one shape", find)


def _listed(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)


def one_element(part: Part, said: str) -> Check[object]:
    """Demand a tensor of one element."""

    def find(node: NodeView) -> str | None:
        found = part.of(node).element_count
        return None if found == 1 else f"{part.words} of {counted(found, 'element')}"

    return check(kinds.SHAPE, f"{part.words} of one element", find).saying(said)


def not_all_constant(said: Callable[[NodeView], str]) -> Check[object]:
    """Demand an operand that is computed at run time, of those that are given."""

    def find(node: NodeView) -> str | None:
        found = [node.graph.tensors[index].is_constant for index in node.node.inputs if index >= 0]
        return "constant inputs only" if found and all(found) else None

    return check(kinds.CONSTANT, "an input that is computed at run time", find).saying(said)


def constant_operands(node: NodeView) -> str:
    """Say the operands of a node whose operands are all constant."""
    return f"Invalid constant inputs: {', '.join(str(index) for index in node.node.inputs if index >= 0)}"


def resolved(axis: int, rank: int) -> int:
    """``ResolveNegativeIndex``."""
    return axis + rank if axis < 0 else axis
