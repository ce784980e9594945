"""The steps in which the delegate visits a node, by the key of a row in ``operators.json``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ....graph.graph import NodeView, fused_activation
from ....model.model import Allocation
from ....rules.kinds import ACTIVATION, CONSTANT, OPERAND_COUNT, RANK, TENSOR_TYPE
from ....rules.operands import OUTPUT, Operand, counted, listed, operand, result
from ..demands import LayerDemand
from ..kinds import READS_COMPUTED
from ..steps import Layer, RuleStep
from ..tables import refusal
from ..tensors import Thrown, info_of
from .problems import PROBLEMS, computed_weights
from .questions import COUNTS, FUSED, LSTM_STATES, LSTM_WEIGHTS, fused

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
        needed, count = wanted if isinstance(wanted, int) else COUNTS[wanted](node), len(node.node.outputs)
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

    return LayerDemand(READS_COMPUTED, f"a constant {which.name}", test, f"{which.name} is computed at run time")


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
        lambda node: None if fused_activation(node) in FUSED else fused_activation(node),
        "fused {problem}",
    )
    yield Layer("ACTIVATION", "activation", fused, "SharedFunctions.cpp:63")


def _lstm_weights(_: RuleRow) -> Iterator[RuleStep]:
    text = "Invalid attempt to construct ConstTensor from non-constant TensorInfo."
    for position, name in LSTM_WEIGHTS.items():
        which = operand(position, name)
        if position == 20:
            yield _described(*LSTM_STATES)
        yield _described(which)
        yield LayerDemand(
            CONSTANT,
            f"a constant {name}",
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
