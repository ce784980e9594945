"""Prepare functions of operators that call subgraphs, and of operators for variables and hash tables.

A called subgraph gets the shapes and types of the caller's operands. The runtime later prepares each subgraph on its own, and
the subgraph then keeps these shapes and types.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation.printable import counted
from ...model import schema
from ...model.model import OPTIONAL_TENSOR, Allocation
from ..kernel import KernelNode, kernel
from ..tensors import KernelSubgraph, KernelTensor, PrepareError

_HANDLE_TYPES = ("RESOURCE", "VARIANT")


@kernel("IF")
def prepare_if(node: KernelNode) -> None:
    """``kernels/if.cc: Prepare``."""
    node.ensure(node.input_count > 0, "has no condition")
    condition = node.input(0)
    node.ensure_type(condition, "BOOL")
    node.ensure(condition.element_count == 1, "the condition is not a single value")
    operands = node.node.inputs[1:]
    branches = [node.interpreter.subgraph(node.options.then_subgraph_index)]
    branches.append(node.interpreter.subgraph(node.options.else_subgraph_index))
    for branch in branches:
        ensure_callable(node, operands, branch)
    for branch in branches:
        branch.remove_unused_inputs()
    for branch in branches:
        pass_operands(node, operands, branch)
    is_dynamic = False
    for branch in branches:
        hand_over_inputs(branch)
        node.interpreter.allocate_tensors(branch)
        is_dynamic |= branch.dynamic is not None
    if not is_dynamic:
        is_dynamic = shapes_of_outputs(branches[0]) != shapes_of_outputs(branches[1])
    return_results(node, branches[0], is_dynamic)


@kernel("WHILE")
def prepare_while(node: KernelNode) -> None:
    """``kernels/while.cc: Prepare_impl``."""
    operands = node.node.inputs
    node.ensure(node.output_count == len(operands), "has different numbers of inputs and outputs")
    condition = node.interpreter.subgraph(node.options.cond_subgraph_index)
    body = node.interpreter.subgraph(node.options.body_subgraph_index)
    node.ensure(condition is not body, "condition and body are the same subgraph")
    node.ensure(len(condition.inputs) == len(operands), "node and condition have different numbers of inputs")
    node.ensure(len(condition.outputs) == 1, "the condition does not have exactly one output")
    ensure_callable(node, operands, body)
    condition.remove_unused_inputs()
    pass_operands(node, operands, condition)
    node.interpreter.allocate_tensors(condition)
    _check_condition(node, called_tensor(condition, condition.outputs[0]))
    pass_operands(node, operands, body)
    _leave_out_unread_results(node, body)
    if OPTIONAL_TENSOR in body.inputs:
        node.fail("another node that calls the body has removed an unused input of the body")
    hand_over_inputs(body)
    node.interpreter.allocate_tensors(body)
    return_results(node, body, body.dynamic is not None or _changes_shapes(node, body))


def _check_condition(node: KernelNode, condition: KernelTensor) -> None:
    """Check that the condition is a single BOOL (``kernels/while.cc: CheckCondOutput``).

    The kernel checks a dynamic condition only at run time.
    """
    if condition.is_dynamic:
        return
    node.ensure_type(condition, "BOOL")
    node.ensure(condition.shape in ((), (1,)), "the condition does not result in a single value")


def _leave_out_unread_results(node: KernelNode, body: KernelSubgraph) -> None:
    """In a WHILE node, mark a result as omitted if no node reads it and the body returns the corresponding input unchanged."""
    read_tensors = node.interpreter.current_subgraph().read_tensors
    for position, (source, result) in enumerate(zip(body.inputs, body.outputs, strict=True)):
        index = node.node.outputs[position]
        if source != result or index == OPTIONAL_TENSOR or index in read_tensors:
            continue
        if called_tensor(body, source).type not in ("STRING", *_HANDLE_TYPES):
            node.leave_out_result(position)


def _changes_shapes(node: KernelNode, body: KernelSubgraph) -> bool:
    for source_index, result_index in zip(body.inputs, body.outputs, strict=True):
        source, result = called_tensor(body, source_index), called_tensor(body, result_index)
        node.ensure(source.type == result.type, f"the body turns {source.type} into {result.type}")
        node.ensure(not result.is_dynamic, "the body has a dynamic output")
        if source.shape != result.shape and sum(shape[0] for shape in (source.shape, result.shape) if shape) != 1:
            return True
    return False


@kernel("CALL_ONCE", changed_in=("litert-1.4.0",))
def prepare_call_once(node: KernelNode) -> None:
    """``kernels/call_once.cc: Prepare``. The called subgraph is prepared later, when it is run."""
    index = node.options.init_subgraph_index
    if node.since("litert-1.4.0"):
        node.ensure(index != node.interpreter.current_subgraph().graph.index, "calls its own subgraph")
    node.ensure_counts(0, 0)
    called = node.interpreter.subgraph(index)
    node.ensure(not called.inputs and not called.outputs, "the subgraph has inputs or outputs")


def ensure_callable(node: KernelNode, operands: Sequence[int], called: KernelSubgraph) -> None:
    """Check that a subgraph has one input for each operand of the node, and one output for each result."""
    node.ensure(
        len(called.inputs) == len(operands) and len(called.outputs) == node.output_count,
        f"subgraph {called.graph.index} has {counted(len(called.inputs), 'input')} and "
        f"{counted(len(called.outputs), 'output')}, unlike the node",
    )


def pass_operands(node: KernelNode, operands: Sequence[int], called: KernelSubgraph) -> None:
    """Copy the shapes and types of the operands to the inputs of a called subgraph. A constant input keeps its shape.

    Upstream: ``kernels/control_flow_common.h: CopyTensorsShapeAndType``.
    """
    for operand, index in zip(operands, called.inputs, strict=True):
        if index == OPTIONAL_TENSOR:
            continue
        node.ensure(operand != OPTIONAL_TENSOR, f"an operand is omitted, but subgraph {called.graph.index} reads it")
        source, tensor = node.tensors[operand], called.tensors[index]
        if not tensor.is_constant:
            tensor.shape = source.shape
        tensor.type = source.type


def hand_over_inputs(called: KernelSubgraph) -> None:
    """Mark the inputs of a called subgraph as data of the caller. RESOURCE and VARIANT handles are not marked."""
    for index in called.inputs:
        if index != OPTIONAL_TENSOR and called.tensors[index].type not in _HANDLE_TYPES:
            called.tensors[index].allocation = Allocation.CUSTOM


def return_results(node: KernelNode, called: KernelSubgraph, is_dynamic: bool) -> None:
    """Give the node's results the shapes of the subgraph's outputs. With ``is_dynamic``, make the results dynamic."""
    for index, called_index in zip(node.node.outputs, called.outputs, strict=True):
        if index == OPTIONAL_TENSOR:
            continue
        if is_dynamic:
            node.set_dynamic(node.tensors[index])
        else:
            node.resize(node.tensors[index], called_tensor(called, called_index).shape)


def called_tensor(called: KernelSubgraph, index: int) -> KernelTensor:
    """Return an input or output of a subgraph. Refuse the node if the index is -1, because the runtime crashes."""
    if index == OPTIONAL_TENSOR:
        raise PrepareError(f"an input or output of subgraph {called.graph.index} is omitted")
    return called.tensors[index]


def shapes_of_outputs(called: KernelSubgraph) -> list[tuple[int, ...]]:
    """Return the shapes of a subgraph's outputs."""
    return [called_tensor(called, index).shape for index in called.outputs]


@kernel("VAR_HANDLE")
def prepare_var_handle(node: KernelNode) -> None:
    """``kernels/var_handle.cc: Prepare``."""
    node.output().allocation = Allocation.VARIABLE


@kernel("READ_VARIABLE", changed_in=("tf-2.12",))
def prepare_read_variable(node: KernelNode) -> None:
    """``kernels/read_variable.cc: Prepare``. Scalar results are dynamic. In old releases, all results are dynamic."""
    node.ensure_counts(1, 1)
    _check_variable_handle(node)
    if node.output().rank == 0 or not node.since("tf-2.12"):
        node.set_dynamic(node.output())


@kernel("ASSIGN_VARIABLE")
def prepare_assign_variable(node: KernelNode) -> None:
    """``kernels/assign_variable.cc: Prepare``."""
    node.ensure_counts(2, 0)
    _check_variable_handle(node)


def _check_variable_handle(node: KernelNode) -> None:
    handle = node.input(0)
    node.ensure_type(handle, ("RESOURCE", "INT32"))
    node.ensure(handle.element_count == 1, "the handle is not a single value")


@kernel("HASHTABLE")
def prepare_hashtable(node: KernelNode) -> None:
    """``kernels/hashtable.cc: PrepareHashtable``."""
    node.ensure_counts(0, 1)
    _check_table_types(node, schema.tensor_type_name(node.options.key_dtype), schema.tensor_type_name(node.options.value_dtype))
    handle = node.output()
    node.ensure_type(handle, "RESOURCE")
    handle.shape = (1,)


@kernel("HASHTABLE_FIND")
def prepare_hashtable_find(node: KernelNode) -> None:
    """``kernels/hashtable_find.cc: PrepareHashtableFind``."""
    node.ensure_counts(3, 1)
    _check_table_handle(node)
    default, keys, result = node.input(2), node.input(1), node.output()
    node.ensure(default.type == result.type, "the default and the result have different types")
    _check_table_types(node, keys.type, result.type)
    node.resize(result, keys.shape)


@kernel("HASHTABLE_IMPORT")
def prepare_hashtable_import(node: KernelNode) -> None:
    """``kernels/hashtable_import.cc: PrepareHashtableImport``."""
    node.ensure_counts(3, 0)
    _check_table_handle(node)
    keys, values = node.input(1), node.input(2)
    _check_table_types(node, keys.type, values.type)
    node.ensure(keys.shape == values.shape, "keys and values have different shapes")


@kernel("HASHTABLE_SIZE")
def prepare_hashtable_size(node: KernelNode) -> None:
    """``kernels/hashtable_size.cc: PrepareHashtableSize``."""
    node.ensure_counts(1, 1)
    _check_table_handle(node)
    node.ensure_type(node.output(), "INT64")
    node.resize(node.output(), (1,))


def _check_table_handle(node: KernelNode) -> None:
    handle = node.input(0)
    node.ensure_type(handle, "RESOURCE")
    node.ensure(handle.shape == (1,), "the handle is not a vector of one element")


def _check_table_types(node: KernelNode, key: str, value: str) -> None:
    node.ensure(
        (key, value) in (("INT64", "STRING"), ("STRING", "INT64")), f"hash tables from {key} to {value} are not supported"
    )
