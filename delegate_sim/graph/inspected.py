"""Graphs of a model as plain data, with all nodes and tensors."""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, number_or_text
from ..model.model import Model, Signature
from .graph import Graph

_NODE = (
    *(Column("index", INTEGER), Column("op"), Column("version", INTEGER), Column("custom", YES_OR_NO, source="is_custom")),
    *attributes("inputs", "outputs", type=LIST),
)
_QUANTIZATION = (
    *(Column("kind"), Column("scales", LIST, source=lambda own: map(number_or_text, own.scales.tolist()))),
    *(Column("zero_points", LIST, source=lambda own: own.zero_points.tolist()), Column("dimension", INTEGER)),
)
_TENSOR = (
    *(Column("index", INTEGER), *attributes("name", "type"), *attributes("shape", "shape_signature", type=LIST)),
    *(Column("allocation"), Column("quantization", OBJECT, parts=_QUANTIZATION)),
    Column("sparse", YES_OR_NO, source=lambda tensor: tensor.sparsity is not None),
)
_FAILURE = (
    *(Column("node", INTEGER), Column("message"), Column("lines", LIST, source="log_lines")),
    Column("unregistered", source=lambda failure: failure.values["unregistered"]),
    Column("kernel", LIST, source=lambda failure: failure.values["kernel"]),
)
_GRAPH = (
    *(Column("index", INTEGER), Column("name"), *attributes("inputs", "outputs", type=LIST)),
    *(Column("dynamic", OBJECT), Column("failure", OBJECT, parts=_FAILURE)),
    *(Column("nodes", LIST, parts=_NODE), Column("tensors", LIST, parts=_TENSOR)),
)


@dataclass(frozen=True, slots=True)
class Inspected(Declared):
    """Some graphs of a model. ``shapes`` is ``prepared`` for the shapes that kernels compute, or ``file``."""

    document = "inspect"
    columns = (
        *(Column("model", OBJECT), Column("shapes"), Column("signatures", LIST)),
        Column("subgraphs", LIST, source="graphs", parts=_GRAPH),
    )

    model: Model
    graphs: tuple[Graph, ...]
    shapes: str

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures of the model."""
        return self.model.signatures
