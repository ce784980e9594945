"""Parsers of arithmetic, comparisons, logic, casts and activations (``delegates/gpu/common/model_builder.cc``)."""

from __future__ import annotations

from ...gpu_compatibility.questions import runtime_input_count
from .model import BuildError, Operation, Shape, consume
from .reader import BHWC, BOOL, FLOAT, HW, HWC, INT32, LINEAR, SCALAR, NodeReader, bhwc

_WITH_ACTIVATION = frozenset({"ADD", "DIV", "MUL", "SUB"})


def parse_one_operand(reader: NodeReader) -> None:
    """``ElementwiseOperationParser`` for operators with one operand."""
    _check_operands(reader, runtime=1, constant=0)
    reader.add_one_to_one(reader.view.op)


def parse_two_operands(reader: NodeReader) -> None:
    """``ElementwiseOperationParser`` for operators with two operands, of which one may be constant."""
    operation = reader.add(reader.view.op)
    if _has_operands(reader, runtime=2, constant=0):
        _add_runtime_operands(reader, operation)
    else:
        _check_operands(reader, runtime=1, constant=1)
        _add_constant_operand(reader, operation)
    reader.add_outputs(operation)
    if reader.view.op in _WITH_ACTIVATION:
        reader.fuse_activation(operation)


def _has_operands(reader: NodeReader, runtime: int, constant: int) -> bool:
    """``VerifyInputsConstsOutputs``: operands left out count as constant."""
    node, found = reader.view.node, runtime_input_count(reader.view)
    return found == runtime and len(node.inputs) - found == constant and len(node.outputs) == 1


def _check_operands(reader: NodeReader, runtime: int, constant: int) -> None:
    if not _has_operands(reader, runtime, constant):
        found = runtime_input_count(reader.view)
        raise BuildError("gpu-build-operand-count", found=f"{found} of {len(reader.view.node.inputs)} operands are not constant")


def _add_runtime_operands(reader: NodeReader, operation: Operation) -> None:
    """Read both operands. That the larger one comes first for ADD and MUL is left out: nothing that can fail depends on it."""
    first, second = reader.view.input(0), reader.view.input(1)
    if first.index != second.index:
        reader.add_input(operation, 0)
        reader.add_input(operation, 1)
    elif reader.view.op in ("ADD", "ADD_N", "MUL"):
        # Becomes a square, or a multiplication by two.
        reader.add_input(operation, 0)
    else:
        raise BuildError("gpu-build-repeated-operand", first)


def _add_constant_operand(reader: NodeReader, operation: Operation) -> None:
    """``ParseInputsWithConstTensor``."""
    constant = 0 if reader.is_constant(0) else 1
    tensor = reader.view.input(constant)
    reader.add_input(operation, 1 - constant)
    elements = {"BOOL": BOOL, "INT32": INT32}.get(tensor.type, FLOAT)
    if tensor.element_count == 1:
        layout = SCALAR
    elif LINEAR.sizes(tensor.shape) is not None:
        layout = LINEAR
    else:
        layout = HW if tensor.rank == 2 else HWC
    reader.read(constant, layout, elements)


def parse_prelu(reader: NodeReader) -> None:
    """``PReLUOperationParser``: slopes for each channel, or for each element but the batch."""
    operation = reader.add("PRELU")
    _, *sizes = reader.add_input(operation, 0).shape
    slopes = reader.view.input(1)
    layout = LINEAR if LINEAR.sizes(slopes.shape) is not None else HWC
    found = reader.read(1, layout)
    wanted = tuple(sizes[-1:] if layout is LINEAR else sizes)
    if found != wanted:
        raise BuildError("gpu-build-shape", slopes, needed=f"shape {list(wanted)}")
    reader.add_outputs(operation)


def parse_select(reader: NodeReader) -> None:
    """``SelectV2OperationParser``."""
    operation = reader.add("SELECT_V2")
    reader.add_input(operation, 0)
    for position in (1, 2):
        if not reader.is_constant(position):
            reader.add_input(operation, position)
            continue
        tensor = reader.view.input(position)
        if tensor.element_count < 2:
            reader.read(position, SCALAR)
            shape: Shape = (1, 1, 1, 1)
        elif position == 2 and tensor.rank == 3:
            height, width, channels = reader.read(position, HWC)
            shape = (1, height, width, channels)
        else:
            reader.read(position, BHWC)
            shape = bhwc(tensor)
        constant = reader.add_constant(position, shape)
        consume(operation, constant)
    reader.add_outputs(operation)
