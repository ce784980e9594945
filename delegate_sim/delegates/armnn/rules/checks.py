"""The steps in which the delegate visits a node, by the key of a row in ``operators.json``, and the problems that it finds.

A function in ``PROBLEMS`` returns a problem, or None or False if a node has no problem. Some functions raise Thrown, as the
delegate does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ....foundation.limits import element_count
from ....graph.graph import NodeView, fused_activation
from ....model.model import Allocation
from ....rules.kinds import ACTIVATION, CONSTANT, OPERAND_COUNT, RANK, TENSOR_TYPE
from ....rules.operands import OUTPUT, Operand, counted, listed, operand, result
from ....rules.vocabulary import constant_words
from ..demands import READS_COMPUTED, LayerDemand, refusal
from ..steps import Layer, RuleStep
from ..tensors import Thrown, checked, info_of, input_info, input_infos, output_info
from . import questions

_ALLOCATIONS = (None, Allocation.CONSTANT, Allocation.ARENA, Allocation.VARIABLE, Allocation.DYNAMIC, Allocation.PERSISTENT)
"""The places of data by the runtime's number (``TfLiteAllocationType``)."""
_WINDOW = ("stride_d", "stride_w", "stride_h", "dilation_d_factor", "dilation_w_factor", "dilation_h_factor")


def computed_weights(which: Operand, text: str, node: NodeView) -> None:
    """Raise Thrown with a text for weights that are not constant."""
    tensor = which.tensor(node)
    if not tensor.is_constant and which.is_given(node):
        number = _ALLOCATIONS.index(tensor.allocation) if tensor.allocation in _ALLOCATIONS else 0
        raise Thrown(text.format(number=number), f"{which.name} is not constant")


def _negative(names: tuple[str, ...], node: NodeView) -> None:
    for name in names:
        value = getattr(node.options, name)
        if value < 0:
            raise Thrown(f"TfLiteArmnnDelegate: Non-negative value in node {node.node.index}", f"{name} {value}")


def _no_affine_quantization(node: NodeView) -> bool:
    given = node.output(0).quantization
    return given is None or not given.is_affine


def _other_type(position: int, types: tuple[str, ...], node: NodeView) -> str | None:
    kind = node.input(position).type
    return None if kind in types else kind


def _other_result_type(name: str, node: NodeView) -> int | None:
    # INT32 is 2 and INT64 is 4 in the schema.
    value: int = getattr(node.options, name)
    return None if value in (2, 4) else value


def _other_rank(position: int, rank: int, node: NodeView) -> int | None:
    given = input_info(node, position).rank
    return None if given == rank else given


def _several(position: int, node: NodeView) -> int | None:
    count = input_info(node, position).element_count
    return None if count == 1 else count


def _other_size_count(node: NodeView) -> tuple[int, list[int]] | None:
    shape = list(node.input(1).shape)
    count = shape[0] if len(shape) == 1 else 0
    return None if count == 2 else (count, shape)


def _uneven(is_output: bool, node: NodeView) -> tuple[int, int] | None:
    info = output_info(node) if is_output else input_info(node, 0)
    row = input_info(node, 1).size(0 if is_output else 1)
    return None if info.rank <= 2 or info.element_count % row == 0 else (info.element_count, row)


def _several_wildcards(node: NodeView) -> list[int] | None:
    shape = questions.target_shape(node) or []
    return shape if shape.count(-1) > 1 else None


def _other_element_count(node: NodeView) -> tuple[list[int], int] | None:
    count, shape = input_info(node, 0).element_count, questions.full_shape(node)
    return None if element_count(checked((*shape,))) == count else (shape, count)


def _expanded_axis(node: NodeView) -> int | None:
    rank, axes = input_info(node, 0).rank, questions.values_of(node, 1)
    return None if not axes or -(rank + 1) <= axes[0] <= rank else axes[0]


def _gathered_axis(node: NodeView) -> int | None:
    rank = input_info(node, 0).rank
    return None if -rank <= node.options.axis < max(rank, 1) else rank


def _gathered_rank(node: NodeView) -> tuple[int, int, int] | None:
    output, source, indices = output_info(node).rank, input_info(node, 0).rank, input_info(node, 1).rank
    return None if output == source + indices - 1 else (output, source, indices)


def _other_count_of_multiples(node: NodeView) -> tuple[int, int] | None:
    rank, count = input_info(node, 0).rank, input_info(node, 1).element_count
    return None if rank == count else (count, rank)


def _wide_padding(node: NodeView) -> tuple[list[int], int] | None:
    source = input_info(node, 0)
    sizes = ((pair, source.size(at)) for at, pair in enumerate(questions.pads(node)))
    return next((([*pair], size) for pair, size in sizes if max(pair) > size - questions.is_reflected(node)), None)


def _wide_size(node: NodeView) -> tuple[int, int] | None:
    sizes = zip(node.input(0).shape, questions.values_of(node, 1), questions.values_of(node, 2), strict=False)
    return next(((size, whole - begin) for whole, begin, size in sizes if size < -1 or size > whole - begin), None)


def _joined_ranks(node: NodeView) -> None:
    rank = node.input(0).rank
    for position, info in enumerate(input_infos(node)):
        if info.rank != rank:
            text = f"The number of dimensions for input tensors of the concatenation operator should be: {rank}"
            raise Thrown(text, f"input {position} of rank {info.rank} beside rank {rank}")


def _uneven_split(node: NodeView) -> int | None:
    size, count = input_info(node, 1).size(questions.split_axis(node, 1, 0)), node.options.num_splits
    return None if count and size % count == 0 else size


def _other_sum_of_sizes(node: NodeView) -> tuple[list[int], int] | None:
    sizes = questions.values_of(node, 1)
    whole = input_info(node, 0).size(questions.split_axis(node, 0, 2))
    return None if min(sizes, default=0) < 0 or sum(sizes) == whole else (sizes, whole)


def _several_inferred_sizes(node: NodeView) -> int | None:
    count = sum(size < 0 for size in questions.values_of(node, 1))
    return count if count > 1 else None


def _unpacked_axis(node: NodeView) -> int | None:
    rank = input_info(node, 0).rank
    return None if node.options.axis < rank else rank


def _other_count_of_slices(node: NodeView) -> tuple[int, int] | None:
    size, count = input_info(node, 0).size(node.options.axis), questions.slices(node)
    return None if size == count else (count, size)


PROBLEMS: Mapping[str, Callable[[NodeView], object]] = {
    "always": lambda _: True,
    "no affine quantization": _no_affine_quantization,
    "negative window": partial(_negative, _WINDOW),
    "negative axis": partial(_negative, ("axis",)),
    "negative num_splits": partial(_negative, ("num_splits",)),
    "computed weights": partial(
        computed_weights, operand(1, "weights"), "TfLiteArmnnDelegate:  Not constant allocation type: {number}"
    ),
    "other size count": _other_size_count,
    "other rank of weights": partial(_other_rank, 1, 2),
    "uneven input": partial(_uneven, False),
    "uneven output": partial(_uneven, True),
    "no new shape": lambda node: questions.target_shape(node) is None,
    "several wildcards": _several_wildcards,
    "other element count": _other_element_count,
    "expanded axis": _expanded_axis,
    "other out_type": partial(_other_result_type, "out_type"),
    "other output_type": partial(_other_result_type, "output_type"),
    "axis type": partial(_other_type, 1, ("INT32", "INT64")),
    "gathered axis": _gathered_axis,
    "gathered rank": _gathered_rank,
    "other type of value": partial(_other_type, 1, ("FLOAT32", "INT32")),
    "other count of multiples": _other_count_of_multiples,
    "several padding values": partial(_several, 2),
    "type of padding value": partial(_other_type, 2, ("FLOAT32", "UINT8", "INT8")),
    "other mode": lambda node: node.options.mode not in (0, 1),
    "wide padding": _wide_padding,
    "wide size": _wide_size,
    "joined ranks": _joined_ranks,
    "several axes of input 0": partial(_several, 0),
    "several axes of input 2": partial(_several, 2),
    "uneven split": _uneven_split,
    "other rank of sizes": partial(_other_rank, 1, 1),
    "other sum of sizes": _other_sum_of_sizes,
    "several inferred sizes": _several_inferred_sizes,
    "unpacked axis": _unpacked_axis,
    "other count of slices": _other_count_of_slices,
}
"""The functions by the names in ``operators.json``."""


RuleRow = Mapping[str, Any]
_OPERANDS = {"output": OUTPUT, "weights": operand(1, "weights"), "bias": operand(2, "bias")}


def _inputs(row: RuleRow) -> Iterator[RuleStep]:
    """Demand one of these numbers of operands (``ValidateNumInputs``). The message names the first number."""
    allowed = row["inputs"] if isinstance(row["inputs"], list) else [row["inputs"]]
    said = f"TfLiteArmnnDelegate: Unexpected number of inputs ({{problem[0]}} != {allowed[0]}) in node #{{node.index}}"
    needed = f"{listed(map(str, allowed))} input{'' if allowed == [1] else 's'}"
    hint = "convert without a bias, and add it after the operator" if allowed == [3] else ""
    yield _input_count(needed, lambda count: count in allowed, said, hint)


def _inputs_at_least(row: RuleRow) -> Iterator[RuleStep]:
    least = row["inputs_at_least"]
    said = f"TfLiteArmnnDelegate: Minimum number of inputs ({least} != {{problem[0]}}) in node #{{node.index}}"
    yield _input_count(f"at least {counted(least, 'input')}", lambda count: count >= least, row.get("says", said))


def _input_count(needed: str, holds: Callable[[int], bool], said: str, hint: str = "") -> LayerDemand:
    def test(node: NodeView) -> tuple[int, str] | None:
        count = len(node.node.inputs)
        return None if holds(count) else (count, counted(count, "input"))

    return LayerDemand(OPERAND_COUNT, needed, test, "{problem[1]}", said, hint)


def _outputs(row: RuleRow) -> Iterator[RuleStep]:
    """Demand a number of results (``ValidateNumOutputs``), which may depend on the node."""
    wanted = row["outputs"]

    def test(node: NodeView) -> tuple[int, int, str] | None:
        needed, count = wanted if isinstance(wanted, int) else questions.COUNTS[wanted](node), len(node.node.outputs)
        return None if count == needed else (count, needed, counted(count, "output"))

    said = "TfLiteArmnnDelegate: Unexpected number of outputs ({problem[0]} != {problem[1]}) in node #{node.index}"
    yield LayerDemand(OPERAND_COUNT, row.get("needed", "1 output"), test, "{problem[2]}", said)


def _reads(row: RuleRow) -> Iterator[RuleStep]:
    """Demand that Arm NN can describe all operands, all results, or these tensors, in this order."""
    which = row["reads"]
    if which == "inputs":
        yield _readable(which, lambda node: map(operand, range(len(node.node.inputs))))
    elif which == "outputs":
        yield _readable(which, lambda node: map(result, range(len(node.node.outputs))))
    else:
        yield _described(*[_OPERANDS.get(name) or operand(name) for name in which])


def _described(*which: Operand) -> LayerDemand:
    return _readable(", ".join([one.name for one in which]), lambda _: which)


def _readable(names: str, which: Callable[[NodeView], Iterable[Operand]]) -> LayerDemand:
    def test(node: NodeView) -> None:
        for one in which(node):
            try:
                # Omitted tensors are not read.
                _ = one.is_given(node) and info_of(one.tensor(node), is_result=one.is_result)
            except Thrown as thrown:
                raise (Thrown(thrown.text, f"{one.name} {thrown.detail}") if thrown.detail else thrown) from None

    needed = f"{names} of a type that Arm NN knows, with at most 5 dimensions"
    return LayerDemand(TENSOR_TYPE, needed, test, hint="convert with FLOAT32 or INT8 tensors of at most 5 dimensions")


_POSITIONS = (0, 1, 2)
"""The positions of operands. No operator takes more than three."""


def _takes(row: RuleRow) -> Iterator[RuleStep]:
    """Demand a number of operands, one result, and that Arm NN can describe all of them."""
    yield from _inputs({"inputs": row["takes"]})
    yield from _outputs({"outputs": 1})
    yield from _reads({"reads": [*_POSITIONS[: row["takes"]], "output"]})


def _stored(row: RuleRow) -> Iterator[RuleStep]:
    yield _present(operand(row["stored"]))


def _present(which: Operand) -> LayerDemand:
    """Demand that the value of an operand is stored or computed beforehand. The delegate does not ask, and crashes."""

    def test(node: NodeView) -> bool:
        has_data = which.tensor(node).allocation in (Allocation.CONSTANT, Allocation.PERSISTENT)
        return which.is_given(node) and not has_data

    return LayerDemand(READS_COMPUTED, constant_words(which.name), test, f"{which.name} is computed at run time")


def _vectors(row: RuleRow) -> Iterator[RuleStep]:
    for name, position in row["vectors"].items():
        yield from _vector(operand(position, name), *[text.replace("*", name.title()) for text in row["says"]])


def _vector(which: Operand, *said: str) -> Iterator[RuleStep]:
    """Demand a vector of INT32 with a value for each dimension (``ReadInt32Input``), whose values can be read."""
    name = which.name

    def other_type(node: NodeView) -> str | None:
        kind = which.tensor(node).type
        return None if kind == "INT32" else kind

    def other_rank(node: NodeView) -> int | None:
        rank = which.tensor(node).rank
        return None if rank == 1 else rank

    def other_size(node: NodeView) -> int | None:
        shape = which.tensor(node).shape
        return None if shape == (node.input(0).rank,) else shape[0]

    hints = f"convert with an INT32 {name}", f"give {name} a value for each dimension"
    yield LayerDemand(TENSOR_TYPE, f"{name} of type INT32", other_type, f"{name} is {{problem}}", said[0], hints[0])
    yield LayerDemand(RANK, f"{name} of rank 1", other_rank, f"{name} of rank {{problem}}", said[1])
    needed = f"{name} with a value for each dimension of input"
    yield LayerDemand(OPERAND_COUNT, needed, other_size, f"{name} of {{problem}}", said[2], hints[1])
    yield _present(which)


def _fused(_: RuleRow) -> Iterator[RuleStep]:
    """Demand a known fused activation, which is checked as a layer on the output (``ValidateFusedActivationOperator``)."""
    yield LayerDemand(
        ACTIVATION,
        "no fused activation, or RELU, RELU6, RELU_N1_TO_1 or TANH",
        lambda node: None if fused_activation(node) in questions.FUSED else fused_activation(node),
        "fused {problem}",
    )
    yield Layer("ACTIVATION", "activation", questions.fused, "SharedFunctions.cpp:63")


def _lstm_weights(_: RuleRow) -> Iterator[RuleStep]:
    text = "Invalid attempt to construct ConstTensor from non-constant TensorInfo."
    for position, name in questions.LSTM_WEIGHTS.items():
        which = operand(position, name)
        if position == 20:
            yield _described(*questions.LSTM_STATES)
        yield _described(which)
        yield LayerDemand(
            CONSTANT,
            constant_words(name),
            partial(computed_weights, which, text),
            hint="convert so that the weights are constants",
        )


_MAKERS: Mapping[str, Callable[[RuleRow], Iterator[RuleStep]]] = {
    "inputs": _inputs,
    "inputs_at_least": _inputs_at_least,
    "outputs": _outputs,
    "reads": _reads,
    "takes": _takes,
    "stored": _stored,
    "vectors": _vectors,
    "fused": _fused,
    "lstm_weights": _lstm_weights,
    "refuses": lambda row: iter([refusal(row, PROBLEMS)]),
}


def own_steps(row: RuleRow) -> Iterator[RuleStep]:
    """Yield the steps that a row stands for."""
    return _MAKERS[next(key for key in _MAKERS if key in row)](row)
