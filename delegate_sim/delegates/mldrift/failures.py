"""Why a model fails though its nodes were judged, and in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...rules.kinds import Kind, Problem
from ..base import Decision, FailureWording, KernelFailure, kernel_failure

LITERT_LOADER = Kind(
    "litert-loader",
    Problem.MODEL,
    "model that LiteRT's own loader refuses",
    "An application of LiteRT 2 loads a model with LiteRT's own reader before the interpreter sees it. It refuses what the "
    "interpreter of TFLite loads: variable tensors, as in stateful LSTM cells, operators with intermediate tensors, and types "
    "such as VARIANT. No accelerator is then asked.",
    "Convert without variables and resources: pass state in and out as tensors of the model.",
    "convert without variables and resources, and pass state as inputs and outputs",
    is_shared=True,
)
HINT_NOT_MET = Kind(
    "hint-not-met",
    Problem.MODEL,
    "hint that the delegate takes the whole model",
    "The application promised that one delegate takes every node of every subgraph. One that it leaves over fails the model.",
    "Leave the hint out (hint_fully_delegated), or change the nodes that are refused.",
    "leave the hint out, or change the nodes that are refused",
    is_shared=True,
)
NOT_ACCELERATED = Kind(
    "not-fully-accelerated",
    Problem.MODEL,
    "nodes left over without the CPU",
    "The application did not name the CPU among the accelerators, so that a node which no other takes fails the model.",
    "Name the CPU too (cpu_fallback), or change the nodes that are refused.",
    "name the CPU among the accelerators, or change the nodes that are refused",
    is_shared=True,
)
WORDINGS: Mapping[str, FailureWording] = MappingProxyType(
    {
        LITERT_LOADER.name: FailureWording("LiteRT does not load the model: {problem}", LITERT_LOADER),
        HINT_NOT_MET.name: FailureWording("the hint says that the delegate takes all nodes, and {problem}", HINT_NOT_MET),
        NOT_ACCELERATED.name: FailureWording(
            "the CPU is not among the accelerators, and {problem}: the model fails", NOT_ACCELERATED
        ),
    }
)

_HINT_LINE = "Hint fully delegated to single delegate is set, but the graph is not fully delegated."


def _left_over(decision: Decision, left: Sequence[int]) -> str:
    if not left:
        return "its nodes make more than one kernel"
    first = f"node {left[0]} ({decision.graph.nodes[left[0]].op})"
    return f"{first} is left over" if len(left) == 1 else f"{len(left)} nodes are left over, the first is {first}"


def hint_not_met(decision: Decision, left: Sequence[int]) -> KernelFailure:
    """Say that a subgraph is not one kernel, as the hint promises; ``left`` are the nodes left over."""
    node = left[0] if left else None
    return kernel_failure(WORDINGS, HINT_NOT_MET.name, node, problem=_left_over(decision, left))._replace(log_lines=(_HINT_LINE,))


def not_fully_accelerated(decision: Decision, left: Sequence[int]) -> KernelFailure:
    """Say that the CPU would be needed for the nodes left over."""
    found = kernel_failure(WORDINGS, NOT_ACCELERATED.name, left[0], problem=_left_over(decision, left))
    return found._replace(is_later=True)
