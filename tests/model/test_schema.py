"""The checked-in schema is what ``tools/schema.py`` writes, and agrees with the accessors of the ``tflite`` package."""

from __future__ import annotations

import numpy as np
import pytest
import tflite

from delegate_sim.model import schema
from delegate_sim.model.reader import load
from delegate_sim.model.schema import FAMILIES, FAMILY_OF
from fixtures.builder import ModelBuilder
from tests.support.tables import for_each
from tools import schema as generator

OPERATORS = {op: schema.options_table(op) for op in schema.enum_names("BuiltinOperator").values()}
TABLES = sorted(set(OPERATORS.values()) - generator.LITERT_TABLES.keys() - {""})
SAMPLES = {"?": True, "b": -3, "B": 3, "h": -300, "H": 300, "i": -70000, "I": 70000, "q": -(2**40), "Q": 2**40, "f": 0.5}


@pytest.mark.skipif(
    generator.package_version() != schema.TFLITE_VERSION, reason="the schema was written from another release of tflite"
)
def test_the_file_is_what_the_generator_writes():
    assert generator.FILE.read_text(encoding="utf-8") == generator.text(), "run make schema"


def test_the_generator_refuses_what_the_package_has_by_now(monkeypatch):
    monkeypatch.setitem(generator.LITERT_ENUMS, "Padding", {"VALID": 1})
    with pytest.raises(ValueError, match="has VALID of Padding: remove what is listed as newer"):
        generator.text()


def test_every_table_that_is_referred_to_is_there():
    for fields in schema.TABLES.values():
        for _, kind, *_ in fields.values():
            name = kind.strip("[]")
            assert name in schema.TABLES or name.islower()


def sample(field: schema.Field, place: int):
    """A value for a field, other than its default and, where the type allows, other than that of its neighbors."""
    if field.format is None:
        return [SAMPLES[field.element]] * (place + 1) if field.element else f"text {place}"
    kind = field.format[1]
    return not field.default if kind == "?" else SAMPLES[kind] + place


def model_with_options(table, values):
    """A model of one node with these options; the options and what the package's accessors find in their place."""
    builder = ModelBuilder()
    builder.subgraph().node(next(op for op in OPERATORS if OPERATORS[op] == table), (), (), options=values)
    content = builder.bytes()
    model = load(content)
    operator = tflite.Model.GetRootAs(content).Subgraphs(0).Operators(0)
    place = operator.BuiltinOptions() or operator.BuiltinOptions2()
    reference = getattr(tflite, table)()
    reference.Init(place.Bytes, place.Pos)
    return model.options(model.subgraphs[0].nodes[0]), reference


def accessor_value(reference, field):
    """The value that the package's accessor returns for a field."""
    names = {name.lower(): name for name in dir(reference)}
    words = names[field.name.replace("_", "")]
    if field.element is not None:
        found = getattr(reference, f"{words}AsNumpy")()
        return tuple(found.tolist()) if isinstance(found, np.ndarray) else ()
    found = getattr(reference, words)()
    return (found or b"").decode() if field.format is None else found


@for_each(TABLES)
def test_fields_that_are_set_read_as_with_the_accessors(table):
    fields = schema.table_fields(table).values()
    values = {field.name: sample(field, place) for place, field in enumerate(fields)}
    options, reference = model_with_options(table, values)
    assert options.table == table
    for field in fields:
        expected = values[field.name]
        assert getattr(options, field.name) == (tuple(expected) if isinstance(expected, list) else expected)
        assert getattr(options, field.name) == accessor_value(reference, field)


@for_each(TABLES)
def test_fields_left_out_read_as_with_the_accessors(table):
    options, reference = model_with_options(table, {})
    for field in schema.table_fields(table).values():
        assert getattr(options, field.name) == accessor_value(reference, field)


@for_each(TABLES)
def test_no_field_is_missing(table):
    accessors = {name.lower() for name in dir(getattr(tflite, table)) if not name.startswith(("_", "GetRootAs"))}
    derived = {name for name in accessors if name.endswith(("asnumpy", "length", "isnone"))}
    known = {name.replace("_", "") for name in schema.table_fields(table)}
    assert accessors - derived - {"init", f"{table}bufferhasidentifier".lower()} == known


def test_every_options_table_belongs_to_an_operator():
    unions = {*schema.enum_names("BuiltinOptions").values(), *schema.enum_names("BuiltinOptions2").values()}
    assert set(OPERATORS.values()) - {""} == unions - {"NONE"}


@pytest.mark.parametrize(
    ("op", "table"),
    [
        ("CONV_2D", "Conv2DOptions"),
        ("MAX_POOL_2D", "Pool2DOptions"),
        ("REDUCE_ANY", "ReducerOptions"),
        ("STABLEHLO_COMPOSITE", "StableHLOCompositeOptions"),
        ("PRELU", ""),
        ("UNKNOWN(999)", ""),
    ],
)
def test_options_table_of_an_operator(op, table):
    assert schema.options_table(op) == table


def test_enums_agree_with_the_package_and_hold_newer_members():
    assert schema.enum_names("Padding") == {0: "SAME", 1: "VALID"}
    for value, name in schema.enum_names("TensorType").items():
        assert getattr(tflite.TensorType, name, value) == value
    assert schema.tensor_type_name(19) == "INT2"
    assert schema.operator_name(209) == "STABLEHLO_CASE"
    assert list(schema.table_fields("StablehloCaseOptions")) == ["branch_subgraph_indices"]


def test_what_is_newer_than_the_schema_has_a_name_all_the_same():
    assert schema.tensor_type_name(99) == "UNKNOWN(99)"
    assert schema.operator_name(-1) == "UNKNOWN(-1)"
    assert not schema.table_fields("UNKNOWN(77)")
    with pytest.raises(KeyError, match="NoSuchEnum"):
        schema.enum_names("NoSuchEnum")


WITHOUT_FAMILY = {"CUSTOM", "PLACEHOLDER_FOR_GREATER_OP_CODES"}


def test_every_builtin_operator_is_in_one_family():
    operators = [op for family in FAMILIES.values() for op in family]
    assert len(operators) == len(set(operators))
    assert FAMILY_OF.keys() == set(schema.enum_names("BuiltinOperator").values()) - WITHOUT_FAMILY
