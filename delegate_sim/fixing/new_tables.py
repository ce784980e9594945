"""Tables of the schema made from parts of a model."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import FixError
from ..model import schema
from ..model.model import Node, OperatorCode, Options, Signature, Tensor
from .layout import NewReferences, NewTable, TargetPlace, string, vector

_GREATEST_OLD_CODE = 127


def enum_member(enum: str, name: str) -> int:
    """Return the number of a member of an enumeration."""
    return schema.enum_values(enum)[name]


def operator_code_of(node: Node) -> OperatorCode:
    """Return what the table of operators says of a node."""
    return OperatorCode(node.op, node.builtin_code, node.custom_code, node.version)


def operator_code_table(code: OperatorCode) -> NewTable:
    """Return an entry of the table of operators."""
    table = NewTable(
        {
            0: ("<b", min(code.builtin_code, _GREATEST_OLD_CODE)),
            2: ("<i", code.version),
            3: ("<i", code.builtin_code),
        }
    )
    if code.custom_code is not None:
        table.references[1] = string(code.custom_code)
    return table


def quantization_table(tensor: Tensor) -> NewTable | None:
    """Return the quantisation of a tensor, None without one; raises FixError for one that is not affine."""
    parameters = tensor.quantization
    if parameters is None:
        return None
    if not parameters.is_affine:
        raise FixError("quantisation other than affine cannot be written anew")
    return NewTable(
        {6: ("<i", parameters.dimension)},
        {2: vector(parameters.scales.tolist(), "f"), 3: vector(parameters.zero_points.tolist(), "q")},
    )


def set_options(table: NewTable, name: str, target: TargetPlace) -> None:
    """Give the table of a node options of the kind ``name`` in place of those that it has."""
    for slot in (3, 11):
        table.numbers.pop(slot, None)
        table.references.pop(slot + 1, None)
    for slot, union in ((3, "BuiltinOptions"), (11, "BuiltinOptions2")):
        number = schema.enum_values(union).get(name)
        if number is not None:
            table.numbers[slot] = ("<B", number)
            table.references[slot + 1] = target
            return
    raise FixError(f"options of the kind {name} cannot be written")


def options_table(name: str, options: Options) -> NewTable:
    """Return options without the fields that have the schema's defaults."""
    table = NewTable()
    values = dict(iter(options))
    for field in schema.table_fields(name).values():
        value = values.get(field.name, field.default)
        if field.format is not None:
            if value != field.default:
                table.numbers[field.slot] = (field.format, value)
        elif field.element is not None:
            if len(value):
                table.references[field.slot] = vector(value, field.element)
        elif value:
            table.references[field.slot] = string(value)
    return table


def signature_table(signature: Signature) -> NewTable:
    """Return a signature."""
    return NewTable(
        {4: ("<I", signature.subgraph)},
        {0: _arguments(signature.inputs), 1: _arguments(signature.outputs), 2: string(signature.key)},
    )


def _arguments(tensors: Mapping[str, int]) -> NewReferences:
    return NewReferences([NewTable({1: ("<I", index)}, {0: string(name)}) for name, index in tensors.items()])
