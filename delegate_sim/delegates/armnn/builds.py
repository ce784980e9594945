"""The build of a partition: which accepted nodes Arm NN then cannot load as a network.

Source: ``ArmnnSubgraph::Create`` (``delegate/classic/src/armnn_delegate.cpp``), which parses the nodes again, then calls
``armnn::Optimize`` (``src/armnn/Network.cpp``, ``Layer.cpp``, ``layers``) and ``LoadNetwork``
(``src/backends/backendsCommon/WorkloadData.cpp``). Assertions end the process: Debian compiles Arm NN with assertions.

The table ``workloads.json`` has the demands of workloads on accepted layers (``QueueDescriptor::Validate``) that an accepted
layer may miss. The process ends at a demand without a message. Both backends validate workloads alike, apart from layers that
the table names together with a backend.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator
from itertools import chain
from typing import NamedTuple

from ...graph.forms import FormTable, node_forms
from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Node
from ...refusal import Refusal
from .compute_library import CPU_ACC
from .demands import ASSERTION, NOT_BUILT, read_layers
from .rules import RULES
from .steps import BACKENDS, ArmnnTarget, Layer, VisitRule
from .tensors import INFERRED, PER_CHANNEL, Info, Query, Thrown, info_of


def _other_bias_type(call: Query) -> str | None:
    needed = call.input.type if call.input.type in ("FLOAT32", "FLOAT16") else "INT32"
    return None if call.bias is None or call.bias.type == needed else needed


def _other_scales_of_bias(call: Query) -> bool:
    scales = [info.scales for info in (call.bias, call.weights) if info is not None]
    return len(set(scales)) > 1 and max(scales) > 1


def _other_inner_sizes(call: Query) -> list[list[int]] | None:
    shapes = [[*info.known_shape] for info in call.inputs]
    for shape, is_transposed in zip(shapes, (call.values["transpose_x"], call.values["transpose_y"]), strict=True):
        if is_transposed:
            shape[-2:] = shape[:-3:-1]
    first, second = shapes
    # Upstream counts the axes of the second operand with the rank of the first one.
    axis = len(first) - 2
    return None if axis < len(second) and second[axis] == first[-1] else shapes


def _several_scales(call: Query) -> Info | None:
    return next((info for info in call.inputs if info.is_per_axis and info.type in ("UINT8", "INT8", "INT16")), None)


def _mirrored_type(call: Query) -> bool:
    """Return whether Compute Library cannot join the type along the third dimension from the end."""
    pads = call.values["pads"]
    is_joined = call.values["is_mirrored"] and len(pads) > 2 and any(pads[-3])
    return is_joined and call.input.type not in ("FLOAT32", "FLOAT16", "INT8", "UINT8")


FUNCTIONS = {
    "other space": lambda call: call.input.is_quantized and not call.input.has_space_of(call.output),
    "other ranks": lambda call: call.input.rank != call.second.rank,
    "other inner sizes": _other_inner_sizes,
    "other bias type": _other_bias_type,
    "offset of bias": lambda call: call.bias is not None and call.bias.zero_point != 0,
    "other scales of bias": _other_scales_of_bias,
    "scales without per-channel type": lambda call: call.weights.is_per_axis and call.weights.type != PER_CHANNEL,
    "several scales": _several_scales,
    "mirrored type": _mirrored_type,
}
"""The functions that find problems, by the names in the table."""
LAYERS = read_layers("workloads.json", FUNCTIONS)
"""The demands of workloads by layer, or by layer and backend."""


def workload_refusal(layer: str, call: Query, backend: str) -> Refusal | None:
    """Return the refusal of a workload of a backend, or None."""
    demands = (*LAYERS.get(layer, ()), *LAYERS.get(f"{layer} on {backend}", ()))
    return next((refusal for demand in demands if (refusal := demand.refusal(call)) is not None), None)


_OWN_CONSTANTS = {
    **dict.fromkeys(("CONV_2D", "CONV_3D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"), (0, 1, 2)),
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


class _Built(NamedTuple):
    node: Node
    layer: Layer
    call: Query


def build_failure(graph: Graph, subset: Subset, target: ArmnnTarget) -> Refusal | None:
    """Return the failure to build the network of a partition, or None if the build succeeds."""
    return _Network(graph, subset, target).refusal()


def _refusal(node: Node, found: str, needed: str, text: str = "", lines: tuple[str, ...] = ()) -> Refusal:
    """Return the refusal of a node. ``text`` is the text of the exception. It is empty if the process ends."""
    values = {"operator": node.op, "found": found, "needed": needed}
    kind = NOT_BUILT if text else ASSERTION
    log_lines = (*lines, f"RuntimeError: {text}") if text else lines
    return kind.refusal(kind.template, node=node.index, values=values, log_lines=log_lines)


class _Network:
    def __init__(self, graph: Graph, subset: Subset, target: ArmnnTarget) -> None:
        self.graph = graph
        self.subset = subset
        self.target = target
        self.slots: dict[int, Info] = {}
        """The tensors that layers have written, or that the network reads."""
        self.layers: list[_Built] = []
        """The layers, but only the first one of equal layers with equal tensors."""
        self._added: set[Hashable] = set()
        self._forms = node_forms(graph)
        self._calls = graph.shared.get("armnn calls", (), FormTable[int, tuple[tuple[Layer, Query], ...]])

    def refusal(self) -> Refusal | None:
        inner = {tensor for index in self.subset.nodes for tensor in self.graph.nodes[index].outputs}
        for index in self.subset.nodes:
            for tensor in self.graph.nodes[index].inputs:
                if tensor >= 0 and tensor not in inner and not self.graph.tensors[tensor].is_constant:
                    self.slots[tensor] = info_of(self.graph.tensors[tensor])
        for index in self.subset.nodes:
            refusal = self._parse(self.graph.view(self.graph.nodes[index]))
            if refusal is not None:
                return refusal
        return next(chain(self._infer(), self._assign(), self._optimized(), self._load()), None)

    def _parse(self, node: NodeView) -> Refusal | None:
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
            if node.node.input(position) in self.slots and node.input(position).is_constant:
                shared = f"the constant input {position}, which an earlier node of the partition also reads"
                text = "Tried to connect an output slot to an input slot, but the latter already has a connection"
                return _refusal(node.node, shared, "a constant of its own", text)
        for position in data:
            tensor = node.node.input(position)
            if position in own or tensor in self.slots or tensor < 0:
                continue
            info = info_of(node.input(position))
            if op in _DIRECT:
                return _refusal(node.node, f"the constant input {position}", "a computed input")
            if op in _UNCONNECTED:
                name = "Prelu" if op == "PRELU" else "Pad"
                text = f'Input slot(s) 0 for {name} not connected to an output slot. \nLayer name: "{name}:{index}"'
                return _refusal(node.node, f"the constant input {position}", "a computed input", _optimize(text))
            lines = self._refused_constant(info)
            if lines:
                text = "TfLiteArmnnDelegate: Unable to parse node: "[index:]
                return _refusal(node.node, f"a constant of type {info.type}", "constants of another type", text, lines)
            self.slots[tensor] = info
        slots = [self.slots.get(node.node.input(position)) for position in data[: len(call.inputs)]]
        key = form, *slots
        if key not in self._added or layer.name == "split":
            self._added.add(key)
            if layer.name != "fully_connected":
                call = call._replace(inputs=tuple([slot or asked for slot, asked in zip(slots, call.inputs, strict=True)]))
            self.layers += [_Built(node.node, *other) for other in (*calls[:-1], (layer, call))]
        results = [info_of(tensor, is_result=True) for tensor in node.outputs] if op in _RESHAPED else call.outputs
        self.slots.update(zip(node.node.outputs, results, strict=False))
        return None

    def _refused_constant(self, info: Info) -> tuple[str, ...]:
        """Return the lines about a constant that no backend accepts, or no lines."""
        call, lines = Query((), (info,)), []
        for name in self.target.backends:
            refusals = BACKENDS[name].refusals("constant", call)
            if not refusals:
                return ()
            lines.append(BACKENDS[name].warning("CONSTANT", refusals))
        return (*lines, "ERROR: CONSTANT: not supported by any specified backend")

    def _infer(self) -> Iterator[Refusal]:
        """Yield the problems of shapes (``Graph::InferTensorInfos``)."""
        end = "while using ShapeInferenceMethod::ValidateOnly"
        for built in self.layers:
            for output in built.call.outputs:
                if output.shape is None:
                    text, value = f"Dimensionality can not be NotSpecified {end}", "a result without dimensions"
                    yield _refusal(built.node, value, "a result with at least one dimension", _optimize(text))
                elif 0 in output.shape:
                    text, value = f"Unspecified dimension {end}", f"a result of shape {list(output.shape)}"
                    yield _refusal(built.node, value, "no size of 0", _optimize(text))
            infer = INFERRED.get(built.layer.name)
            try:
                inferred = infer and infer(built.call)
            except Thrown as thrown:
                text = thrown.text and _optimize(thrown.text)
                yield _refusal(built.node, thrown.found, "shapes that Arm NN can infer", text)
                continue
            shape = built.call.output.shape
            if inferred is not None and shape != inferred:
                sizes = " != ".join([f"[{','.join(map(str, one or ()))}]" for one in (shape, inferred)])
                text = f"{built.layer.word}: TensorShape set on OutputSlot[0] does not match the inferred shape. : {sizes}"
                value = f"a result of shape {list(shape or ())}"
                yield _refusal(built.node, value, f"the shape {list(inferred)}", _optimize(text))

    def _assign(self) -> Iterator[Refusal]:
        """Yield the UINT8 results and weights with another number of scales than one (``CheckScaleSetOnQuantizedType``)."""
        written = [(built.node, info) for built in self.layers for info in (*built.call.outputs, built.call.weights)]
        for node, info in written:
            if info is None or info.type != "UINT8":
                continue
            if info.is_per_axis:
                yield _refusal(node, f"a UINT8 tensor with {info.scales} scales", "one scale")
            elif not info.scale:
                text = _optimize("Failed to assign a backend to each layer")
                yield _refusal(node, "a UINT8 tensor without a scale", "a scale", text)

    def _optimized(self) -> Iterator[Refusal]:
        """Yield the problems of optimizations (``Optimizer::Pass`` and ``OptimizeSubgraphView``)."""
        for built in self.layers:
            name, call = built.layer.name, built.call
            if name == "dequantize" and call.input.is_per_axis and call.input.is_constant and call.output.type == "FLOAT32":
                yield _refusal(built.node, f"constants with {call.input.scales} scales", "one scale, or float constants")
            if name == "reduce" and len(call.values["axes"]) > 1 and self._backend_of(built) == CPU_ACC.name:
                chained = call.input._replace(shape=call.output.shape)
                if chained != call.output:
                    value = f"{_described(call.input)} input and {_described(call.output)} output"
                    yield _refusal(built.node, value, _CHAINED)

    def _load(self) -> Iterator[Refusal]:
        """Yield the problems of workloads (``QueueDescriptor::Validate``)."""
        failed = "Network could not be loaded: An error occurred when preparing the network workloads: "
        for built in self.layers:
            backend = self._backend_of(built)
            refusal = workload_refusal(built.layer.name, built.call, backend)
            if refusal is not None:
                value, needed, said = refusal.found, refusal.needed, refusal.message
            elif backend == CPU_ACC.name and built.layer.name == "split" and (unread := self._unread(built)):
                value, needed, said = unread, "results that are all read", "GetConnection: Invalid index 0 provided"
            else:
                continue
            text = f"TfLiteArmnnDelegate: Exception (TfLiteArmnnDelegate: {failed} {said}) caught from LoadNetwork."
            yield _refusal(built.node, value, needed, text if said else "")

    def _backend_of(self, built: _Built) -> str:
        backends = self.target.backends
        return next((name for name in backends if not BACKENDS[name].refusals(built.layer.name, built.call)), "")

    @functools.cached_property
    def _read(self) -> frozenset[int]:
        """The tensors that nodes of the partition read, and its results."""
        read = [tensor for index in self.subset.nodes for tensor in self.graph.nodes[index].inputs]
        return frozenset((*read, *self.subset.outputs))

    def _unread(self, built: _Built) -> str:
        unread = [at for at, tensor in enumerate(built.node.outputs) if tensor not in self._read]
        return f"result {unread[0]}, which nothing reads" if unread else ""


_CHAINED = "input and output of the same type and quantization, neither constant, to reduce several axes"


def _described(info: Info) -> str:
    space = f" (scale {info.scale:g}, zero point {info.zero_point})" if info.is_quantized else ""
    return f"{'constant ' if info.is_constant else ''}{info.type}{space}"


def _optimize(text: str) -> str:
    return f"TfLiteArmnnDelegate: Exception ({text}) caught from optimize."
