"""Build tables of the schema from parts of a model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...errors import FixError
from ...model import schema
from ...model.model import Node, OperatorCode, Signature, Tensor
from ...model.options import Options
from .layout import NewReferences, NewTable, TargetPlace, string, vector

_GREATEST_OLD_CODE = 127
_OPTIONS_UNIONS: Mapping[str, str] = MappingProxyType(
    {"BuiltinOptions": "builtin_options", "BuiltinOptions2": "builtin_options2"}
)
"""The field of a node's table for each of the schema's two unions of options tables."""


def operator_code_of(node: Node) -> OperatorCode:
    """Return the operator code of a node."""
    return OperatorCode(node.op, node.builtin_code, node.custom_code, node.version)


def operator_code_table(code: OperatorCode) -> NewTable:
    """Return the flatbuffer table of an operator code."""
    table = NewTable(
        "OperatorCode",
        {
            "deprecated_builtin_code": min(code.builtin_code, _GREATEST_OLD_CODE),
            "version": code.version,
            "builtin_code": code.builtin_code,
        },
    )
    if code.custom_code is not None:
        table.fields["custom_code"] = string(code.custom_code)
    return table


def quantization_table(tensor: Tensor) -> NewTable | None:
    """Return the flatbuffer table of a tensor's quantization, or None if the tensor is not quantized.

    Raise FixError if the quantization is not affine.
    """
    parameters = tensor.quantization
    if parameters is None:
        return None
    if not parameters.is_affine:
        raise FixError("the model cannot be rewritten: only affine quantization is supported")
    return NewTable(
        "QuantizationParameters",
        {
            "scale": vector(parameters.scales.tolist(), "f"),
            "zero_point": vector(parameters.zero_points.tolist(), "q"),
            "quantized_dimension": parameters.dimension,
        },
    )


def set_options(table: NewTable, name: str, target: TargetPlace) -> None:
    """Replace a node's options with ``target``. ``name`` is the type of this table."""
    for union in _OPTIONS_UNIONS.values():
        table.fields.pop(f"{union}_type", None)
        table.fields.pop(union, None)
    for enum, union in _OPTIONS_UNIONS.items():
        number = schema.enum_values(enum).get(name)
        if number is not None:
            table.fields[f"{union}_type"] = number
            table.fields[union] = target
            return
    raise FixError(f"options of the kind {name} cannot be written")


def options_table(name: str, options: Options) -> NewTable:
    """Return an options table. Fields with the schema's default values are left out."""
    table = NewTable(name)
    values = dict(iter(options))
    for field in schema.table_fields(name).values():
        value = values.get(field.name, field.default)
        if field.format is not None:
            if value != field.default:
                table.fields[field.name] = value
        elif field.element is not None:
            if len(value):
                table.fields[field.name] = vector(value, field.element)
        elif value:
            table.fields[field.name] = string(value)
    return table


def signature_table(signature: Signature) -> NewTable:
    """Return the flatbuffer table of a signature."""
    return NewTable(
        "SignatureDef",
        {
            "inputs": _arguments(signature.inputs),
            "outputs": _arguments(signature.outputs),
            "signature_key": string(signature.key),
            "subgraph_index": signature.subgraph,
        },
    )


def _arguments(tensors: Mapping[str, int]) -> NewReferences:
    return NewReferences(
        [NewTable("TensorMap", {"name": string(name), "tensor_index": index}) for name, index in tensors.items()]
    )
