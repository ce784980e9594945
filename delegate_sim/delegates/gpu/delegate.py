"""How the GPU delegate goes about a subgraph (``DelegatePrepare``, ``delegates/gpu/delegate.cc``, and ``GetOpsToReplace``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...graph.graph import Graph
from ...graph.partition import Subset, partition
from ...model import schema
from ...options import Option, boolean, integer, names, text
from ...releases.catalogue import NEWEST, Release
from ...rules.explanations import FLOAT16, PARTITION_LIMIT
from ...rules.rule import Explanation, Reason, Verdict
from ..base import Decision, Float16Remapping, KernelFailure, Options, keep_largest
from . import failures
from .build import build_partition
from .rules import EXPLANATIONS, RULES, validate
from .target import Target

OPS_WITHOUT_OPENCL = frozenset({"SPLIT", "SPLIT_V"})
"""Operators that are left out where OpenCL cannot be loaded, and the delegate falls back to OpenGL."""

_BACKENDS = {"opencl": "opencl", "cl": "opencl", "opengl": "opengl", "gl": "opengl"}
_LAST_INDEX = (1 << 31) - 1


def backend(value: Any) -> str:
    """Parse the name of a backend, also as benchmark_model has it; without one, OpenCL is tried first."""
    name = text(value)
    if name is None:
        return "opencl"
    if name.lower() not in _BACKENDS:
        raise ValueError(f"takes opencl or opengl, not {value!r}")
    return _BACKENDS[name.lower()]


def operators(value: Any) -> tuple[str, ...]:
    """Parse names of builtin operators."""
    known = set(schema.enum_names("BuiltinOperator").values())
    found = tuple(name.upper() for name in names(value))
    for name in found:
        if name not in known:
            raise ValueError(f"takes builtin operators, and {name!r} is none")
    return found


OPTIONS = (
    Option(
        "allow_quant_ops",
        boolean,
        True,
        "take 8-bit quantised nodes, and compute them in float (the experimental flag ENABLE_QUANT)",
        flag="gpu_experimental_enable_quant",
        printed=("enable running quant models in gpu",),
    ),
    Option(
        "max_delegated_partitions",
        integer,
        1,
        "how many partitions to delegate at most, largest first; 0 and below count as 1",
        benchmark_default=0,
        has_benchmark_default=True,
        flag="max_delegated_partitions",
        printed=("max number of delegated partitions",),
    ),
    Option("excluded_ops", operators, (), "builtin operators to leave to the CPU", flag="excluded-ops"),
    Option(
        "first_delegate_node_index",
        integer,
        0,
        "index of the first node to delegate; only builds with TFLITE_DEBUG_DELEGATE look at it",
        flag="first_delegate_node_index",
        printed=("index of the first node that could be delegated",),
    ),
    Option(
        "last_delegate_node_index",
        integer,
        _LAST_INDEX,
        "index of the last node to delegate; only builds with TFLITE_DEBUG_DELEGATE look at it",
        flag="last_delegate_node_index",
        printed=("index of the last node that could be delegated",),
    ),
    Option("backend", backend, "opencl", "opencl or opengl", flag="gpu_backend", printed=("gpu backend",)),
)


_NODE_RANGE = {
    "gpu-node-range": Explanation(
        "node outside the range to delegate",
        "first_delegate_node_index and last_delegate_node_index bound the nodes that are delegated. They exist in builds with "
        "TFLITE_DEBUG_DELEGATE only, to find the node to blame for a wrong result.",
        "Widen the range, or leave both options at their defaults.",
    ),
}


class GpuDelegate:
    """The delegate as the runtime meets it (see ``delegates.base.Delegate``)."""

    name = "gpu"
    kernel_name = "TfLiteGpuDelegateV2"
    provider_name = "GPU"
    options = OPTIONS
    rules = RULES
    explanations = MappingProxyType({**EXPLANATIONS, **failures.EXPLANATIONS, **_NODE_RANGE, **PARTITION_LIMIT, **FLOAT16})

    def allows_dynamic_tensors(self, options: Options) -> bool:
        """Never."""
        return False

    def decide(self, graph: Graph, options: Options, release: Release = NEWEST) -> Decision:
        """Ask about every node, and take all of them or the largest partitions (``FP16GraphPartitionHelper``)."""
        target = _target(options, release)
        remapping = Float16Remapping()
        verdicts = remapping.verdicts(graph, lambda node: validate(node, target))
        supported, set_aside = _within_range(verdicts, graph, options)
        preview = partition(graph, supported) if supported else ()
        decision = Decision(graph, verdicts, supported, preview, set_aside)
        limit = max(options["max_delegated_partitions"], 1)
        if len(supported) + len(remapping.nodes) == len(graph.execution_plan):
            decision = dataclasses.replace(decision, nodes=graph.execution_plan)
        elif len(decision.candidates) > limit:
            decision = keep_largest(decision, limit, minimum=0)
        remapped = remapping.apply(graph, decision.nodes)
        if remapped is graph:
            return decision
        # The operands change after the preview, whose partitions then need not stand.
        return dataclasses.replace(decision, graph=remapped, preview=())

    def kernel_failure(self, graph: Graph, subset: Subset, options: Options, release: Release = NEWEST) -> KernelFailure | None:
        """Build the delegate's own model of one partition.

        How it is built is read from the newest sources. What older releases accept is measured; whether they then could build it
        is not, so that a failure is only surmised there.
        """
        failure = build_partition(graph, subset, allow_quant_ops=options["allow_quant_ops"], release=release)
        if failure is None or release.is_at_least(NEWEST):
            return failure
        return failure._replace(is_known=False)


def _target(options: Options, release: Release) -> Target:
    excluded = frozenset(options["excluded_ops"])
    if options["backend"] == "opengl":
        excluded |= OPS_WITHOUT_OPENCL
    return Target(options["allow_quant_ops"], excluded, release)


def _within_range(verdicts: Mapping[int, Verdict], graph: Graph, options: Options) -> tuple[tuple[int, ...], dict[int, Reason]]:
    """Return the supported nodes from the first to the last node to delegate, and why the others are left out."""
    first, last = options["first_delegate_node_index"], options["last_delegate_node_index"]
    supported = [index for index in graph.execution_plan if verdicts[index].is_supported]
    outside = [index for index in supported if not first <= index <= last]
    return tuple(index for index in supported if first <= index <= last), dict.fromkeys(outside, _outside_range(first, last))


def _outside_range(first: int, last: int) -> Reason:
    return Reason(
        "gpu-node-range",
        "node-range",
        f"lies outside the nodes {first} to {last} that may be delegated",
        "another index",
        f"an index from {first} to {last}",
        "change first_delegate_node_index or last_delegate_node_index",
    )


DELEGATE = GpuDelegate()
