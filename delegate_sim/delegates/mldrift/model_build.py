"""Failures while ML Drift builds its own model of the delegated nodes. Each failure ends the process.

Problems of single operators are defined next to the operators' rules (see ``failures.py``). Failures to compile a shader
depend on the driver and are not simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from ...graph.forms import FormTable, node_forms
from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Tensor
from ...model.operator_families import FAMILY_OF
from ...refusal import Refusal
from ...releases.catalogue import Release
from ..options import OptionValues
from .failures import BOUND_TYPE, EMPTY, BuildProblems, FormerProblems
from .rules import MODULES
from .rules.checks import BOUND_BUFFERS, integers, is_bound
from .rules.custom import WEBGPU_PROBLEMS as CUSTOM_PROBLEMS
from .shapes import axes_of

_SPLIT_AXES = {"SPLIT": 0, "SPLIT_V": 2}
"""The position of the operand with the split axis, by operator.

ML Drift has no kernel for a result that is empty along the split axis. Therefore, the size 0 of this axis causes no failure.
"""
_CHANNELS_AXIS = 3


_SHADER_TYPES = frozenset({"FLOAT32", "FLOAT16", "BFLOAT16", "INT32", "UINT32", "INT16", "UINT16", "INT8", "UINT8", "BOOL"})
"""The types that shaders can read and write. They were measured with WebGPU and a development build of LiteRT 2.4."""


def build_failure(graph: Graph, subset: Subset, options: OptionValues, release: Release) -> Refusal | None:
    """Return the first failure to build the model of a partition, or None if no failure is known.

    Shaders are generated after all nodes are read.
    """
    forms = node_forms(graph)
    sound = graph.shared.get("mldrift builds", (options, release), FormTable[int, bool])
    for index in subset.nodes:
        if forms[index] in sound:
            continue
        node = graph.view(graph.nodes[index])
        for problem in _problems(node, options, release):
            return replace(problem, node=index)
        if not node.reads_graph:
            sound.add(forms[index], True)
    for index in subset.nodes if release.is_at_least(BOUND_BUFFERS) else ():
        for tensor in map(graph.tensor, (*graph.nodes[index].inputs, *graph.nodes[index].outputs)):
            if is_bound(graph, tensor) and tensor.type not in _SHADER_TYPES:
                return BOUND_TYPE.failure(tensor, index)
    return None


def _problems(node: NodeView, options: OptionValues, release: Release) -> Iterator[Refusal]:
    is_on_webgpu = options["backend"] == "webgpu"
    if node.node.is_custom:
        if is_on_webgpu and node.op in CUSTOM_PROBLEMS:
            yield from CUSTOM_PROBLEMS[node.op](node)
        return
    if node.is_constant_float16_dequantize:
        return
    yield from _problems_of_operator(node, "BUILD_PROBLEMS")
    yield from _former_problems(node, release)
    if not options["constant_tensor_sharing"]:
        yield from _problems_of_operator(node, "UNSHARED_PROBLEMS")
    if is_on_webgpu:
        for tensor in node.outputs:
            if _is_divided_by(node, tensor):
                yield EMPTY.failure(tensor)
        yield from _problems_of_operator(node, "WEBGPU_PROBLEMS")


def _table(node: NodeView, name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = getattr(import_module(f".rules.{MODULES[FAMILY_OF[node.op]]}", __package__), name, {})
    return table


def _former_problems(node: NodeView, release: Release) -> Iterator[Refusal]:
    problems: FormerProblems = _table(node, "FORMER_PROBLEMS")
    if node.op in problems:
        until, find = problems[node.op]
        yield from () if release.is_at_least(until) else find(node)


def _problems_of_operator(node: NodeView, table: str) -> Iterator[Refusal]:
    problems: BuildProblems = _table(node, table)
    if node.op in problems:
        yield from problems[node.op](node)


def _is_divided_by(node: NodeView, result: Tensor) -> bool:
    """Return whether ML Drift divides by a size of 0.

    ML Drift divides work sizes by the numbers of batches, rows and columns of a result, but not by the number of channels.
    """
    if 0 not in result.shape:
        return False
    sizes = dict(zip(axes_of(result.rank), result.shape, strict=False))
    if node.op in _SPLIT_AXES:
        split = [axis % result.rank for axis in integers(node, _SPLIT_AXES[node.op])[:1]]
        sizes = {axis: size for position, (axis, size) in enumerate(sizes.items()) if position not in split}
    return any(size == 0 and axis != _CHANNELS_AXIS for axis, size in sizes.items())
