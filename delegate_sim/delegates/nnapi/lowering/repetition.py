"""Repeat the lowering of a node for other nodes of the same form, by adding the same to the NNAPI model again.

What is added depends on the form of the node, on the NNAPI operands that the node's tensors already have, and on which of these
operands were dequantized before. A lowering that does more, such as printing a line, is not repeated.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ....graph.forms import FormTable
from ....model.model import Node
from ....nnapi_runtime.builder import AddedPart, ModelBuilder
from ....nnapi_runtime.validation import key_of

if TYPE_CHECKING:
    from .builder import PartitionBuilder

_OperandPlace: TypeAlias = "int | tuple[int, str]"
"""The operand of the tensor at this position of a node, or with a type, the result of the operand's DEQUANTIZE."""


class AddedForNode(NamedTuple):
    """The operands and operations that the lowering of a node added."""

    part: AddedPart
    outside: tuple[_OperandPlace, ...]
    """The operands that existed before, as listed by ``ModelBuilder.part_since``."""
    mapped: tuple[tuple[int, int], ...]
    """The tensors that got an operand, as pairs: the position of the tensor, and the number of the new operand."""
    dequantized: tuple[tuple[_OperandPlace, str, int], ...]
    """For each new DEQUANTIZE, the operand, the type, and the number of the new operand with the result."""
    operations: tuple[str, ...]


AddedByForm: TypeAlias = FormTable[Hashable, AddedForNode]


class Repetition:
    """The lowering of the nodes of one partition with a table of what other nodes added."""

    def __init__(self, builder: PartitionBuilder, model: ModelBuilder, forms: Sequence[int], known: AddedByForm) -> None:
        self._builder = builder
        self._model = model
        self._forms = forms
        self._known = known
        self._key: Hashable = ()
        self._sizes: tuple[int, ...] = ()
        self._before: frozenset[int] = frozenset()

    def repeat(self, node: Node) -> bool:
        """Add what a node of the same form added. Return whether such a node is known."""
        builder, operands = self._builder, self._model.operands
        mapped, results, types = builder.mapped, builder.dequantized, builder.dequantized_types
        tensors = node.inputs + node.outputs + node.intermediates
        context: list[Hashable] = [self._forms[node.index]]
        for index in tensors:
            own = mapped.get(index)
            if own is None:
                context.append(None)
                continue
            operand = operands[own]
            context.append(operand.key if operand.channels is None else key_of(operand))
            if own in types:
                context.append(types[own])
        key = tuple(context)
        known = self._known.get(key)
        start = len(operands)
        if known is None or builder.operand_count != start:
            self._key, self._sizes = key, self._current_sizes()
            self._before = frozenset([index for index in tensors if index in mapped])
            return False
        outside = [
            mapped[tensors[place]] if isinstance(place, int) else results[mapped[tensors[place[0]]], place[1]]
            for place in known.outside
        ]
        self._model.add_part(known.part, outside, node.index)
        builder.operand_count = len(operands)
        for place, number in known.mapped:
            mapped[tensors[place]] = start + number
        for source, wanted, number in known.dequantized:
            assert isinstance(source, int)
            builder.note_dequantized(mapped[tensors[source]], wanted, start + number)
        if known.operations:
            builder.operations[node.index] = list(known.operations)
        return True

    def _current_sizes(self) -> tuple[int, ...]:
        builder, model = self._builder, self._model
        lists: Sequence[Sized] = (builder.refused, builder.lines, builder.state_tensors, builder.inputs, builder.outputs)
        changing = len(builder.mapped), len(builder.dequantized), len(model.operations), builder.operand_count
        return (*changing, len(model.operands), *map(len, lists))

    def note(self, node: Node) -> None:
        """Keep what the lowering added for a node, if it can be repeated. Call this right after the lowering."""
        builder, sizes, now = self._builder, self._sizes, self._current_sizes()
        mapped_count, dequantized_count, operation_count, start, operand_count, *lists = sizes
        if start != operand_count or now[3] != now[4] or now[5:] != tuple(lists) or any(lists[-2:]):
            return
        tensors = node.inputs + node.outputs + node.intermediates
        places = {index: place for place, index in reversed([*enumerate(tensors)])}
        mapped = [
            (place, builder.mapped[index] - start)
            for index, place in places.items()
            if index in builder.mapped and index not in self._before
        ]
        if len(mapped) != now[0] - mapped_count:
            return
        known: dict[int, _OperandPlace] = {}
        for index, place in places.items():
            own = builder.mapped.get(index)
            if own is not None:
                for wanted in builder.dequantized_types.get(own, ()):
                    known[builder.dequantized[own, wanted]] = place, wanted
        known.update({builder.mapped[index]: place for index, place in places.items() if index in builder.mapped})
        added = list(islice(reversed(builder.dequantized.items()), now[1] - dequantized_count))
        part, outside = self._model.part_since(start, operation_count)
        if not known.keys() >= {*outside, *[source for (source, _), _ in added]}:
            return
        self._known.add(
            self._key,
            AddedForNode(
                part,
                tuple([known[operand] for operand in outside]),
                tuple(mapped),
                tuple([(known[source], wanted, result - start) for (source, wanted), result in reversed(added)]),
                tuple(builder.operations.get(node.index, ())),
            ),
        )
