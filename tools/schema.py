"""Write ``delegate_sim/model/tflite_schema.json`` from the installed ``tflite`` package.

``python -m tools.schema`` (``make schema``) parses the modules of the package and never runs them. Members that LiteRT's schema
has and the package lacks are listed below; so are the options tables that are not named after their operator.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

FILE = Path(__file__).resolve().parents[1] / "delegate_sim" / "model" / "tflite_schema.json"

Enum: TypeAlias = dict[str, int]
"""The values of the members, by name."""
FieldType: TypeAlias = "tuple[int, str] | tuple[int, str, float]"
"""The slot and the type of a field, and the default of a number."""
Table: TypeAlias = dict[str, FieldType]

LITERT_ENUMS: Mapping[str, Enum] = {
    "BuiltinOperator": {"STABLEHLO_CASE": 209},
    "BuiltinOptions2": {"StablehloCaseOptions": 23},
    "QuantizationDetails": {"BlockwiseQuantization": 2, "MultiAxisQuantization": 3},
    "TensorType": {"INT2": 19, "UINT4": 20, "FLOAT8_E4M3FN": 21, "FLOAT8_E5M2": 22},
}
"""Members of enums and unions that are newer than the package, from ``tflite/converter/schema/schema.fbs`` of LiteRT 2.3.0."""
LITERT_TABLES: Mapping[str, Table] = {
    "BlockwiseQuantization": {
        "scales": (0, "int32", 0),
        "zero_points": (1, "int32", 0),
        "block_size": (2, "int32", 0),
        "block_shape": (3, "[int32]"),
    },
    "ExternalBuffer": {
        "id": (0, "uint32", 0),
        "group": (1, "uint32", 0),
        "offset": (2, "uint64", 0),
        "length": (3, "uint64", 0),
        "packing": (4, "string"),
    },
    "ExternalBufferGroup": {"name": (0, "string")},
    "FullyConnectedOptions": {"quant_spec": (5, "[uint8]")},
    "Model": {"external_buffer_groups": (8, "[ExternalBufferGroup]"), "external_buffers": (9, "[ExternalBuffer]")},
    "MultiAxisQuantization": {
        "scales": (0, "int32", 0),
        "zero_points": (1, "int32", 0),
        "block_size": (2, "int32", 0),
        "quantized_dimensions": (3, "[int32]"),
    },
    "StablehloCaseOptions": {"branch_subgraph_indices": (0, "[int32]")},
    "Tensor": {"external_buffer": (10, "uint32", 0)},
}
"""Tables and fields that are newer than the package, from the same file.

``quant_spec`` is newer than LiteRT 2.3.0. It was measured with a development build of LiteRT 2.4.
"""
SHARED_OPTIONS: Mapping[str, str] = {
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MULTINOMIAL": "RandomOptions",
    "RANDOM_STANDARD_NORMAL": "RandomOptions",
    "RANDOM_UNIFORM": "RandomOptions",
    "REDUCE_ALL": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions",
    "SUM": "ReducerOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}
"""Options tables that are not named after their operator, from ``tflite/core/api/flatbuffer_conversions.cc``."""

_ADD = re.compile(r"Prepend(\w+)Slot")
_REFERENCE = "UOffsetTRelative"


def package_version() -> str:
    """Return the version of the installed package."""
    return importlib.metadata.version("tflite")


def text() -> str:
    """Return the text of the file, with one line for each enum and each table."""
    enums, tables = read_package()
    _add_newer(enums, tables)
    sections = {
        "version": json.dumps(package_version()),
        "enums": _rows(enums),
        "tables": _rows(tables),
        "options": json.dumps(options_tables(enums)),
    }
    return "{\n" + ",\n".join([f'"{name}": {content}' for name, content in sections.items()]) + "\n}\n"


def read_package() -> tuple[dict[str, Enum], dict[str, Table]]:
    """Return the enums and the tables of the installed package."""
    spec = importlib.util.find_spec("tflite")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("tflite is not installed")
    enums: dict[str, Enum] = {}
    tables: dict[str, Table] = {}
    for path in sorted(Path(spec.origin).parent.glob("[A-Z]*.py")):
        name, tree = path.stem, ast.parse(path.read_text(encoding="utf-8"))
        (definition,) = [statement for statement in tree.body if isinstance(statement, ast.ClassDef)]
        methods = {method.name: method for method in definition.body if isinstance(method, ast.FunctionDef)}
        if methods:
            tables[name] = dict(_fields(name, tree, methods))
        else:
            enums[name] = dict(map(_member, definition.body))
    return enums, tables


def _member(statement: ast.stmt) -> tuple[str, int]:
    """Return the name and the value of a member, which are assigned in the class of an enum."""
    assert isinstance(statement, ast.Assign)
    (target,) = statement.targets
    assert isinstance(target, ast.Name)
    return target.id, ast.literal_eval(statement.value)


def _fields(table: str, tree: ast.Module, methods: Mapping[str, ast.FunctionDef]) -> Iterator[tuple[str, FieldType]]:
    """Return the fields of a table, which each have a function such as ``TensorAddBuffer``."""
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or not function.name.startswith(f"{table}Add"):
            continue
        field = function.name.removeprefix(f"{table}Add")
        (statement,) = function.body  # builder.PrependUint32Slot(2, buffer, 0)
        assert isinstance(statement, ast.Expr)
        assert isinstance(statement.value, ast.Call)
        assert isinstance(statement.value.func, ast.Attribute)
        kind = _ADD.fullmatch(statement.value.func.attr)
        slot, _, default = statement.value.args
        assert kind is not None
        if kind[1] == _REFERENCE:
            yield snake_case(field), (ast.literal_eval(slot), _referred_type(field, methods))
        else:
            yield snake_case(field), (ast.literal_eval(slot), kind[1].lower(), ast.literal_eval(default))


def _referred_type(field: str, methods: Mapping[str, ast.FunctionDef]) -> str:
    """Return the type of what a field refers to, which its accessor tells."""
    as_numpy = methods.get(f"{field}AsNumpy")
    if as_numpy is not None:  # self._tab.GetVectorAsNumpy(flatbuffers.number_types.Int32Flags, o)
        attributes = [node.attr for node in ast.walk(as_numpy) if isinstance(node, ast.Attribute)]
        (element,) = {attribute.removesuffix("Flags") for attribute in attributes if attribute.endswith("Flags")} - {"UOffsetT"}
        return f"[{element.lower()}]"
    nodes = list(ast.walk(methods[field]))
    called = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    imported = [node.names[0].name for node in nodes if isinstance(node, ast.ImportFrom)]
    if "String" in called:
        name = "string"
    elif "Union" in called:
        name = "union"
    else:
        (name,) = imported
    return f"[{name}]" if f"{field}Length" in methods else name


def snake_case(words: str) -> str:
    """Return the schema's name of a field from that of its accessor."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", words).lower()


def _add_newer(enums: dict[str, Enum], tables: dict[str, Table]) -> None:
    """Add what the package lacks; raises ValueError for members that it has by now."""
    for enum, members in LITERT_ENUMS.items():
        _check_newer(enum, members, enums.setdefault(enum, {}))
        enums[enum] |= members
    for table, fields in LITERT_TABLES.items():
        _check_newer(table, fields, tables.setdefault(table, {}))
        tables[table] |= fields


def _check_newer(name: str, newer: Iterable[str], known: Iterable[str]) -> None:
    both = sorted({*newer} & {*known})
    if both:
        raise ValueError(f"tflite {package_version()} has {', '.join(both)} of {name}: remove what is listed as newer")


def options_tables(enums: Mapping[str, Enum]) -> dict[str, str]:
    """Return the options table of each operator, by its name or as listed."""
    unions = [*enums["BuiltinOptions"], *enums["BuiltinOptions2"]]
    by_name = {table.removesuffix("Options").lower(): table for table in unions}
    named = {op: SHARED_OPTIONS.get(op) or by_name.get(op.replace("_", "").lower()) for op in enums["BuiltinOperator"]}
    return {op: table for op, table in named.items() if table}


def _rows(content: Mapping[str, Mapping[str, object]]) -> str:
    return "{\n" + ",\n".join([f'"{name}": {json.dumps(content[name])}' for name in sorted(content)]) + "\n}"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
