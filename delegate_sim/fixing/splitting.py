"""Split a model in two: the delegated part, and the trailing nodes that run on the CPU."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..bundles.ranged import part_of
from ..errors import FixError
from ..foundation.late_numpy import np
from ..graph.graph import file_graphs, has_side_effects
from ..graph.reachability import called_subgraphs
from ..hypothetical.model_editing import Edited, Editor, NodeKey, edited
from ..model import schema
from ..model.model import Model, Node, Signature, Tensor
from .applying import Rewritten
from .flatbuffer.layout import (
    Front,
    NewReferences,
    NewTable,
    NewVector,
    operator_code_of,
    operator_code_table,
    options_table,
    quantization_table,
    set_options,
    signature_table,
    string,
    vector,
)
from .flatbuffer.model_writing import Weights, computed_vector

TASK_METADATA = "TFLITE_METADATA"
"""Name of the metadata that describes the inputs and outputs of the whole model. Neither part keeps this metadata."""
_STATE = frozenset({"RESOURCE", "VARIANT"})
_SCHEMA_VERSION = 3


@dataclass(frozen=True, slots=True)
class Split:
    """A split of a model into two models. Tensors have their indices in the first subgraph of the unsplit model."""

    whole: Rewritten
    nodes: tuple[Node, ...]
    """Nodes of the second model."""
    inputs: tuple[int, ...]
    """Inputs of the second model. Each input is an input of the unsplit model or a result of the first model."""
    outputs: tuple[int, ...]
    """Outputs of the unsplit model that the second model computes, in their original order."""
    first_outputs: tuple[int, ...]
    """Outputs of the first model.

    First come outputs of the unsplit model in their original order, then the other tensors that the second model reads.
    """

    @property
    def between(self) -> tuple[Tensor, ...]:
        """The tensors that the first model passes to the second."""
        graph = file_graphs(self.whole.model)[0]
        return tuple([graph.tensors[index] for index in self.inputs if index not in graph.input_indices])


def trailing(rewritten: Rewritten, on_cpu: Collection[NodeKey]) -> Split | None:
    """Return the split that moves a model's trailing nodes to a second model. Return None if a split is impossible.

    Trailing nodes are CPU nodes of the first subgraph. All nodes that depend on a trailing node are trailing nodes too. Nodes
    that have state or call subgraphs are never moved.
    """
    model = rewritten.model
    graph = file_graphs(model)[0]
    read_before: set[int] = set()
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        if NodeKey(0, node.index) in on_cpu and read_before.isdisjoint(node.outputs) and not _is_bound(model, node):
            nodes.append(node)
        else:
            read_before.update(node.inputs)
    if not nodes or len(nodes) == len(graph.nodes):
        return None
    nodes.reverse()
    written = {index for node in nodes for index in node.outputs}
    read = dict.fromkeys([index for node in nodes for index in node.inputs if index >= 0 and index not in written])
    inputs = [index for index in read if not graph.tensors[index].is_constant or index in graph.input_indices]
    first_outputs = [index for index in graph.outputs if index not in written]
    given = graph.input_indices.union(first_outputs)
    first_outputs += [index for index in inputs if index not in given]
    outputs = [index for index in graph.outputs if index in written]
    return Split(rewritten, tuple(nodes), tuple(inputs), tuple(outputs), tuple(first_outputs)) if inputs and outputs else None


def _is_bound(model: Model, node: Node) -> bool:
    graph = file_graphs(model)[0]
    tensors = [graph.tensors[index] for index in (*node.inputs, *node.outputs, *node.intermediates) if index >= 0]
    if any(tensor.is_variable or tensor.type in _STATE for tensor in tensors) or has_side_effects(graph, node):
        return True
    return next(called_subgraphs(model, node), None) is not None


def first_model(split: Split) -> Rewritten:
    """Return the first model. It does not have the trailing nodes."""
    return replace(split.whole, change=split.whole.change.then(lambda model: _first(model, split)))


def _first(model: Model, split: Split) -> Edited:
    def change(editor: Editor) -> None:
        if editor.subgraph.index == 0:
            editor.remove([node.index for node in split.nodes])
            editor.outputs = list(split.first_outputs)

    changed = edited(model, change)
    metadata = {name: span for name, span in changed.model.metadata.items() if name != TASK_METADATA}
    signatures = tuple(
        [_first_signature(signature, split) if signature.subgraph == 0 else signature for signature in model.signatures]
    )
    return replace(changed, model=changed.model.with_same_bytes(metadata=metadata, signatures=signatures))


def _between_names(signature: Signature, split: Split) -> Mapping[int, str]:
    """Return names for tensors of the signature and for tensors between the two models, keyed by tensor index.

    A tensor that is not in the signature keeps its own name. If the name is not unique, it gets a suffix.
    """
    names = {index: name for name, index in (*signature.inputs.items(), *signature.outputs.items())}
    names_in_use = {*signature.inputs, *signature.outputs}
    for tensor in split.between:
        if tensor.index not in names:
            name = tensor.name if tensor.name and tensor.name not in names_in_use else f"{tensor.name}#{tensor.index}"
            names[tensor.index] = name
            names_in_use.add(name)
    return names


def _first_signature(signature: Signature, split: Split) -> Signature:
    first_outputs = frozenset(split.first_outputs)
    outputs = {name: index for name, index in signature.outputs.items() if index in first_outputs}
    names, given = _between_names(signature, split), frozenset(outputs.values())
    added = {names[tensor.index]: tensor.index for tensor in split.between if tensor.index not in given}
    return signature._replace(outputs={**outputs, **added})


def _second_signature(signature: Signature, split: Split) -> Signature:
    names = _between_names(signature, split)
    inputs = {names[index]: index for index in split.inputs if index in names}
    own = frozenset(split.outputs)
    outputs = {name: index for name, index in signature.outputs.items() if index in own}
    return signature._replace(inputs=inputs, outputs=outputs)


def second_model(split: Split) -> tuple[Iterator[bytes | memoryview], Mapping[int, int]]:
    """Return the second model's bytes in pieces, and its tensor indices.

    The indices are keyed by index in the unsplit model. The second model has only the parts that its nodes need. Raise FixError
    if the model cannot be written.
    """
    second = _Second(split)
    front = Front(second.root())
    return front.chunks(), second.numbers


class _Second:
    def __init__(self, split: Split) -> None:
        self._split = split
        self._model = split.whole.model
        self._weights: Weights = split.whole.weights
        self._graph = self._model.subgraphs[0]
        self._buffers = [NewTable("Buffer")]
        self._buffer_numbers: dict[tuple[Any, ...], int] = {}
        self._tensors: list[NewTable] = []
        self.numbers: dict[int, int] = {-1: -1}
        """Index of each tensor in the second model, by its index in the unsplit model."""
        codes = dict.fromkeys([operator_code_of(node) for node in split.nodes])
        self._codes = {code: number for number, code in enumerate(codes)}

    def root(self) -> NewTable:
        """Return the root table (``Model``) of the second model."""
        split = self._split
        inputs, outputs = self._places(split.inputs), self._places(split.outputs)
        nodes = [self._node(node) for node in split.nodes]
        graph = NewTable(
            "SubGraph",
            {
                "tensors": NewReferences([*self._tensors]),
                "inputs": vector(inputs, "i"),
                "outputs": vector(outputs, "i"),
                "operators": NewReferences([*nodes]),
                "name": string(self._graph.name),
            },
        )
        signatures = [_second_signature(signature, split) for signature in self._model.signatures if signature.subgraph == 0]
        return NewTable(
            "Model",
            {
                "version": _SCHEMA_VERSION,
                "description": string(self._model.description),
                "operator_codes": NewReferences([operator_code_table(code) for code in self._codes]),
                "subgraphs": NewReferences([graph]),
                "buffers": NewReferences([*self._buffers]),
                "signature_defs": NewReferences([signature_table(self._numbered(signature)) for signature in signatures]),
            },
        )

    def _numbered(self, signature: Signature) -> Signature:
        inputs, outputs = (
            {name: self.numbers[index] for name, index in side.items()} for side in (signature.inputs, signature.outputs)
        )
        return signature._replace(inputs=inputs, outputs=outputs)

    def _places(self, indices: Sequence[int]) -> list[int]:
        return [self._place(index) for index in indices]

    def _place(self, index: int) -> int:
        if index not in self.numbers:
            self.numbers[index] = len(self._tensors)
            self._tensors.append(self._tensor(self._graph.tensors[index]))
        return self.numbers[index]

    def _tensor(self, tensor: Tensor) -> NewTable:
        if tensor.sparsity is not None:
            raise FixError(f"the trailing nodes cannot be moved: they read the sparse constant {tensor.name!r}")
        table = NewTable(
            "Tensor",
            {
                "shape": vector(tensor.shape, "i"),
                "name": string(tensor.name),
                "type": schema.enum_values("TensorType")[tensor.type],
                "buffer": self._buffer(tensor),
                "has_rank": tensor.has_rank,
            },
        )
        quantization = quantization_table(tensor)
        if quantization is not None:
            table.fields["quantization"] = quantization
        if tensor.shape_signature is not None:
            table.fields["shape_signature"] = vector(tensor.shape_signature, "i")
        return table

    def _buffer(self, tensor: Tensor) -> int:
        if not tensor.is_constant:
            return 0
        key = tensor.data or (("computed", tensor.buffer) if tensor.buffer < 0 else ("value", tensor.index))
        if key not in self._buffer_numbers:
            content = self._elements(tensor)
            self._buffer_numbers[key] = len(self._buffers)
            self._buffers.append(NewTable("Buffer", {"data": content}))
        return self._buffer_numbers[key]

    def _elements(self, tensor: Tensor) -> NewVector:
        if tensor.data is not None:
            offset, size = tensor.data
            return NewVector(size, part_of(self._model.content, offset, offset + size), 16)
        if tensor.buffer < 0:
            return computed_vector(self._weights[tensor.buffer], tensor)
        if tensor.value is None:
            raise FixError(f"the elements of the constant {tensor.name!r} are not known")
        return computed_vector(functools.partial(np.asarray, tensor.value), tensor)

    def _node(self, node: Node) -> NewTable:
        table = NewTable(
            "Operator",
            {
                "opcode_index": self._codes[operator_code_of(node)],
                "inputs": vector(self._places(node.inputs), "i"),
                "outputs": vector(self._places(node.outputs), "i"),
                "intermediates": vector(self._places(node.intermediates), "i"),
            },
        )
        if node.options is not None:
            set_options(table, node.options[0], options_table(node.options[0], self._model.options(node)))
        if node.custom_options is not None:
            offset, size = node.custom_options
            table.fields["custom_options"] = NewVector(size, part_of(self._model.content, offset, offset + size), 16)
        return table
