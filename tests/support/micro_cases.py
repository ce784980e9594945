"""Tables of cases for the kernels of TensorFlow Lite Micro: nodes, and the code of the first refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from delegate_sim.micro.kernels import custom
from delegate_sim.micro.preparation import RULES
from delegate_sim.micro.target import MicroKernel, MicroTarget
from tests.support.delegates.cases import Case, CaseTable
from tests.support.graphs import arena, node_view, quantized

REFERENCE, CMSIS = MicroTarget(), MicroTarget(kernels="cmsis-nn")

TYPE, HYBRID, QUANTIZATION, RANK, SHAPE, BROADCAST, CONSTANT, VALUE, OPTION, ACTIVATION, COUNT = [
    f"micro-{name}"
    for name in (
        *("tensor-type", "hybrid", "quantization", "rank", "shape", "broadcast", "constant-operand", "operand-value"),
        *("attribute-value", "activation", "operand-count"),
    )
]


def floats(*shape: int):
    return arena("FLOAT32", *shape)


def int8(*shape: int, scale: float = 0.5, zero_point: int = 0):
    return quantized(arena("INT8", *shape), scale, zero_point=zero_point)


def int16(*shape: int, scale: float = 0.5, zero_point: int = 0):
    return quantized(arena("INT16", *shape), scale, zero_point=zero_point)


class MicroTable(CaseTable):
    """For each kernel a node that it runs, and variants of it."""

    def __init__(self) -> None:
        super().__init__(REFERENCE)

    def _add(self, op: str, code: str | None, arguments: Mapping[str, Any]) -> None:
        node = {name: value for name, value in arguments.items() if name != "target"}
        if op in custom.KERNELS:
            options = node.pop("options") or {}
            node |= {"custom": True, "custom_options": options.get("content")}
        else:
            node["model"] = (node["options"] or {}).pop("model", None) or node_view("RELU", [], []).graph.model
        self.cases.append(Case(op, code, node_view(op, **node), arguments["target"]))


def found_code(case: Case) -> str | None:
    """Return the code of the first refusal; None if the node runs."""
    reasons = RULES.validate(case.node, case.target).reasons
    return reasons[0].code if reasons else None


def unrefused_checks(table: MicroTable, kernels: Mapping[str, MicroKernel]) -> list[str]:
    """Return the checks of the kernels that refuse no case, or all cases."""
    refused, met = set(), set()
    for case in table.cases:
        for position, check in enumerate(RULES.rules[case.op].checks):
            if all(condition.holds(case.target) for condition in check.conditions):
                is_met = check.finder(case.node, case.target) is None
                (met if is_met else refused).add((case.op, position))
                if not is_met:
                    break
    return [
        f"{op}, check {position + 1}: {RULES.code_of(check.kind)}"
        for op in kernels
        for position, check in enumerate(RULES.rules[op].checks)
        if (op, position) not in refused & met
    ]
