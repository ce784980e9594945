"""The build of a partition: which accepted nodes Arm NN then cannot load as a network.

Source: ``ArmnnSubgraph::Create`` (``delegate/classic/src/armnn_delegate.cpp``), which parses the nodes again, then calls
``armnn::Optimize`` (``src/armnn/Network.cpp``, ``Layer.cpp``, ``layers``) and ``LoadNetwork``
(``src/backends/backendsCommon/WorkloadData.cpp``). Assertions end the process: Debian compiles Arm NN with assertions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from ...graph.forms import FormTable, node_forms
from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...refusal import Refusal
from .compute_library import CPU_ACC
from .inference import inferred_shape
from .kinds import ASSERTION, NOT_BUILT
from .rules import RULES
from .rules.checks import BACKENDS
from .steps import ArmnnTarget, Layer, Query, VisitRule
from .tensors import Info, Thrown, info_of
from .workloads import WorkloadProblem, workload_problem

_OWN_CONSTANTS: Mapping[str, tuple[int, ...]] = {
    "CONV_2D": (0, 1, 2),
    "CONV_3D": (0, 1, 2),
    "DEPTHWISE_CONV_2D": (0, 1, 2),
    "FULLY_CONNECTED": (0, 1, 2),
    "PRELU": (1,),
    "TRANSPOSE_CONV": (2,),
}
"""The operands that the delegate connects as constants by itself. It asks no backend about their types."""
_UNCONNECTED = frozenset({"PAD", "PADV2", "MIRROR_PAD", "PRELU"})
"""Operators whose first operand, if it is constant, is not connected."""
_DATA = {"SPLIT": (1,), "TRANSPOSE_CONV": (2,), "LSTM": (0, 18, 19), "UNIDIRECTIONAL_SEQUENCE_LSTM": (0, 18, 19)}
"""The operands that are tensors of the layer, where these are not the first ones."""
_DIRECT = frozenset({"SPLIT", "UNPACK", "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM"})
"""Operators whose operands are connected without asking whether they exist."""
_RESHAPED = frozenset({"FULLY_CONNECTED", "UNPACK", "EXPAND_DIMS"})
"""Operators whose results have another shape than the layer that the backends are asked for."""


class BuildProblem(NamedTuple):
    """The reason why a network cannot be built, at a node."""

    node: int
    found: str
    needed: str
    text: str = ""
    """The text of the exception; empty if the process ends."""
    lines: tuple[str, ...] = ()


class _Built(NamedTuple):
    """A layer in the network, with the tensors of the layers before it."""

    node: NodeView
    layer: Layer
    call: Query


def build_failure(graph: Graph, subset: Subset, target: ArmnnTarget) -> Refusal | None:
    """Return the failure to build the network of a partition, or None if the build succeeds."""
    problem = _Network(graph, subset, target).problem()
    if problem is None:
        return None
    node = graph.nodes[problem.node]
    values = {"operator": node.op, "found": problem.found, "needed": problem.needed}
    kind = NOT_BUILT if problem.text else ASSERTION
    lines = (*problem.lines, f"RuntimeError: {problem.text}") if problem.text else problem.lines
    return kind.refusal(kind.template, node=problem.node, values=values, log_lines=lines)


class _Network:
    """The network of a partition while it is built."""

    def __init__(self, graph: Graph, subset: Subset, target: ArmnnTarget) -> None:
        self.graph = graph
        self.subset = subset
        self.target = target
        self.slots: dict[int, Info] = {}
        """The tensors that layers have written, or that the network reads."""
        self.layers: list[_Built] = []
        self._forms = node_forms(graph)
        self._calls = graph.shared.get("armnn calls", (), FormTable[int, tuple[tuple[Layer, Query], ...]])

    def problem(self) -> BuildProblem | None:
        """Return the first problem, in the order in which Arm NN finds them."""
        inner = {tensor for index in self.subset.nodes for tensor in self.graph.nodes[index].outputs}
        for index in self.subset.nodes:
            for tensor in self.graph.nodes[index].inputs:
                if tensor >= 0 and tensor not in inner and not self.graph.tensors[tensor].is_constant:
                    self.slots[tensor] = info_of(self.graph.tensors[tensor])
        for index in self.subset.nodes:
            problem = self._parse(self.graph.view(self.graph.nodes[index]))
            if problem is not None:
                return problem
        return next(chain(self._infer(), self._assign(), self._optimized(), self._load()), None)

    def _parse(self, node: NodeView) -> BuildProblem | None:
        """Add the layers of a node (``VisitNode`` with a network)."""
        index, op = node.node.index, node.op
        rule = RULES.rule_of(op, is_custom=node.node.is_custom)
        assert isinstance(rule, VisitRule)
        form = self._forms[index]
        calls = self._calls.get(form) or self._calls.add(form, (*rule.visit.calls(node),))
        own = _OWN_CONSTANTS.get(op, ())
        layer, call = calls[-1]
        data = _DATA.get(op, tuple(range(len(call.inputs))))
        for position in own:
            tensor = node.node.input(position)
            if tensor >= 0 and node.input(position).is_constant and tensor in self.slots:
                shared = f"the constant input {position}, which an earlier node of the partition also reads"
                text = "Tried to connect an output slot to an input slot, but the latter already has a connection"
                return BuildProblem(index, shared, "a constant of its own", text)
        for position in data:
            tensor = node.node.input(position)
            if position in own or tensor in self.slots or tensor < 0:
                continue
            info = info_of(node.input(position))
            if op in _DIRECT:
                return BuildProblem(index, f"the constant input {position}", "a computed input")
            if op in _UNCONNECTED:
                name = "Prelu" if op == "PRELU" else "Pad"
                text = f'Input slot(s) 0 for {name} not connected to an output slot. \nLayer name: "{name}:{index}"'
                return BuildProblem(index, f"the constant input {position}", "a computed input", _optimize(text))
            lines: list[str] = []
            if not self._has_constant(info, lines):
                text = "TfLiteArmnnDelegate: Unable to parse node: "[index:]
                return BuildProblem(index, f"a constant of type {info.type}", "constants of another type", text, tuple(lines))
            self.slots[tensor] = info
        inputs = tuple(
            [self.slots.get(node.node.input(position)) or call.inputs[at] for at, position in enumerate(data[: len(call.inputs)])]
        )
        if layer.name != "fully_connected":
            call = call._replace(inputs=inputs)
        for other, asked in calls[:-1]:
            self.layers.append(_Built(node, other, asked))
        self.layers.append(_Built(node, layer, call))
        self.slots.update(zip(node.node.outputs, _results(node, call), strict=False))
        return None

    def _has_constant(self, info: Info, lines: list[str]) -> bool:
        call = Query((), (info,))
        for name in self.target.backends:
            backend = BACKENDS[name]
            problems = backend.problems("constant", call)
            if not problems:
                return True
            end = "\n" if backend.reports_all else ""
            reason = "".join([demand.reason(call) + end for demand, _ in problems.values()])
            lines.append(f"WARNING: CONSTANT: not supported by armnn: {reason}")
        lines.append("ERROR: CONSTANT: not supported by any specified backend")
        return False

    def _infer(self) -> Iterator[BuildProblem]:
        """Yield the problems of shapes (``Graph::InferTensorInfos``)."""
        for built in self.layers:
            index = built.node.node.index
            for output in built.call.outputs:
                if output.shape is None:
                    text = "Dimensionality can not be NotSpecified while using ShapeInferenceMethod::ValidateOnly"
                    yield BuildProblem(
                        index, "a result without dimensions", "a result with at least one dimension", _optimize(text)
                    )
                elif 0 in output.shape:
                    text = "Unspecified dimension while using ShapeInferenceMethod::ValidateOnly"
                    yield BuildProblem(index, f"a result of shape {list(output.shape)}", "no size of 0", _optimize(text))
            try:
                inferred = inferred_shape(built.node, built.layer.name, built.call)
            except Thrown as thrown:
                yield BuildProblem(index, thrown.found, "shapes that Arm NN can infer", thrown.text and _optimize(thrown.text))
                continue
            shape = built.call.output.shape
            if inferred is not None and shape != inferred:
                name, sizes = built.layer.word, [",".join(map(str, one or ())) for one in (shape, inferred)]
                text = (
                    f"{name}: TensorShape set on OutputSlot[0] does not match the inferred shape. : [{sizes[0]}] != [{sizes[1]}]"
                )
                yield BuildProblem(
                    index, f"a result of shape {list(shape or ())}", f"the shape {list(inferred)}", _optimize(text)
                )

    def _assign(self) -> Iterator[BuildProblem]:
        """Yield the UINT8 results and weights with another number of scales than one (``CheckScaleSetOnQuantizedType``)."""
        written = [(built.node.node.index, info) for built in self.layers for info in (*built.call.outputs, built.call.weights)]
        for index, info in written:
            if info is None or info.type != "UINT8":
                continue
            if info.is_per_axis:
                yield BuildProblem(index, f"a UINT8 tensor with {info.scales} scales", "one scale")
            elif not info.scale:
                yield BuildProblem(
                    index, "a UINT8 tensor without a scale", "a scale", _optimize("Failed to assign a backend to each layer")
                )

    def _load(self) -> Iterator[BuildProblem]:
        """Yield the problems of workloads (``QueueDescriptor::Validate``)."""
        for built in self.layers:
            backend = self._backend_of(built.layer.name, built.call)
            problem = workload_problem(built.layer.name, built.call, backend) or self._unread_view(built, backend)
            if problem is None:
                continue
            text = "TfLiteArmnnDelegate: Network could not be loaded: An error occurred when preparing the network workloads: "
            told = f"TfLiteArmnnDelegate: Exception ({text} {problem.text}) caught from LoadNetwork." if problem.text else ""
            yield BuildProblem(built.node.node.index, problem.found, problem.needed, told)

    def _backend_of(self, layer: str, call: Query) -> str:
        """Return the backend that a layer is assigned to."""
        return next((name for name in self.target.backends if not BACKENDS[name].problems(layer, call)), "")

    @functools.cached_property
    def _read(self) -> frozenset[int]:
        """The tensors that nodes of the partition read, and its results."""
        read = [tensor for index in self.subset.nodes for tensor in self.graph.nodes[index].inputs]
        return frozenset((*read, *self.subset.outputs))

    def _unread_view(self, built: _Built, backend: str) -> WorkloadProblem | None:
        """Find a result of SPLIT that nothing reads (``SplitterLayer::CreateTensors``)."""
        if backend != CPU_ACC.name or built.layer.name != "split":
            return None
        unread = next((at for at, tensor in enumerate(built.node.node.outputs) if tensor not in self._read), None)
        text = "GetConnection: Invalid index 0 provided"
        return (
            None
            if unread is None
            else WorkloadProblem(f"result {unread}, which nothing reads", "results that are all read", text)
        )

    def _optimized(self) -> Iterator[BuildProblem]:
        """Yield the problems of optimizations (``Optimizer::Pass`` and ``OptimizeSubgraphView``)."""
        for built in self.layers:
            index, name, call = built.node.node.index, built.layer.name, built.call
            if name == "dequantize" and call.input.is_per_axis and call.input.is_constant and call.output.type == "FLOAT32":
                yield BuildProblem(index, f"constants with {call.input.scales} scales", "one scale, or float constants")
            if name == "reduce" and len(call.values["axes"]) > 1 and self._backend_of(name, call) == CPU_ACC.name:
                chained = call.input._replace(shape=call.output.shape)
                if chained != call.output:
                    yield BuildProblem(index, f"{_described(call.input)} input and {_described(call.output)} output", _CHAINED)


_CHAINED = "input and output of the same type and quantization, neither constant, to reduce several axes"


def _described(info: Info) -> str:
    space = f" (scale {info.scale:g}, zero point {info.zero_point})" if info.is_quantized else ""
    return f"{'constant ' if info.is_constant else ''}{info.type}{space}"


def _results(node: NodeView, call: Query) -> tuple[Info, ...]:
    """Return the results as the network describes them. The question may be about other shapes."""
    if node.op in _RESHAPED:
        return tuple([info_of(tensor, is_result=True) for tensor in node.outputs])
    return call.outputs


def _optimize(text: str) -> str:
    return f"TfLiteArmnnDelegate: Exception ({text}) caught from optimize."
