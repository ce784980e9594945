"""From what a diagnosis asks for to settings."""

from __future__ import annotations

import pytest

from delegate_sim.conversion.settings import FLOAT, parse_settings
from delegate_sim.diagnosis.advice.converter_settings import ConverterSetting
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.model.reader import load
from delegate_sim.sweeping.search import OPTIONS, QUANTIZATIONS, followed, settings_changes
from tests.support.conversion.sweep_conversions import dense
from tests.support.diagnoses import target

INT8 = frozenset({ConverterSetting.INT8})


def test_every_setting_has_a_name_that_settings_know():
    assert {*QUANTIZATIONS, *OPTIONS} == set(ConverterSetting)
    assert not set(QUANTIZATIONS) & set(OPTIONS)
    for name in QUANTIZATIONS.values():
        assert FLOAT.with_quantization(name).quantization == name
    for name in OPTIONS.values():
        known = [parse_settings(each) for each in (f"float+{name}", f"int8+{name}") if each != f"float+{name}" or name in FREE]
        assert known


FREE = ("fixed", "unfolded", "unrolled")
"""Options that go with float."""


@pytest.mark.parametrize(
    ("settings", "together", "expected"),
    [
        ("float", {ConverterSetting.INT8}, "int8"),
        ("float+fixed", {ConverterSetting.INT8}, "int8+fixed"),
        ("int8", {ConverterSetting.DENSE_PER_TENSOR}, "int8+dense-per-tensor"),
        (
            "dynamic-range",
            {ConverterSetting.OLD_QUANTIZER, ConverterSetting.PER_TENSOR},
            "dynamic-range+per-tensor+old-quantizer",
        ),
        ("int8+dense-per-tensor", {ConverterSetting.FLOAT}, "float"),
        ("float", {ConverterSetting.INT8, ConverterSetting.FIXED_SHAPES}, "int8+fixed"),
    ],
)
def test_settings_change_as_a_cause_asks(settings, together, expected):
    assert followed(parse_settings(settings), frozenset(together)).name == expected


@pytest.mark.parametrize(
    ("settings", "together"),
    [
        ("int8", {ConverterSetting.INT8}),
        ("float", {ConverterSetting.DENSE_PER_TENSOR}),
        ("int8+dense-per-tensor", {ConverterSetting.PER_TENSOR}),
        ("float+fixed", {ConverterSetting.FIXED_SHAPES}),
    ],
)
def test_what_is_so_already_or_does_not_go_together_points_nowhere(settings, together):
    assert followed(parse_settings(settings), frozenset(together)) is None


def test_sizes_go_with_fixed_inputs():
    found = followed(FLOAT, frozenset({ConverterSetting.FIXED_SHAPES}), (("x", (1, 2)),))
    assert found.name == "float+fixed+x=1x2"


def test_what_a_cause_needs_goes_with_it():
    """Integers bring nothing to a graph that is refused for its sizes."""
    diagnosis = diagnose(load(dense(FLOAT).bytes()), target("hexagon", {"min_nodes_per_partition": 1}))
    found = [change.settings for change in settings_changes(diagnosis)]
    assert INT8 | {ConverterSetting.PER_TENSOR, ConverterSetting.FIXED_SHAPES} in found
    assert not {INT8, INT8 | {ConverterSetting.PER_TENSOR}} & set(found)
