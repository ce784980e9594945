"""The table of operator families."""

from __future__ import annotations

from delegate_sim.model import schema
from delegate_sim.model.operator_families import FAMILIES, FAMILY_OF

WITHOUT_FAMILY = {"CUSTOM", "PLACEHOLDER_FOR_GREATER_OP_CODES"}


def test_every_builtin_operator_is_in_one_family():
    operators = [op for family in FAMILIES.values() for op in family]
    assert len(operators) == len(set(operators))
    assert FAMILY_OF.keys() == set(schema.enum_names("BuiltinOperator").values()) - WITHOUT_FAMILY
