"""Options of delegates: defaults, parsing, and clear errors."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.delegate import DELEGATE
from delegate_sim.delegates.options import DEFAULT_SETS, option_value, parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, LIVE_ONLY_NAMES, find_live
from delegate_sim.errors import OptionError


def parsed(defaults="api", **given):
    return parse_options("nnapi", DELEGATE.options, given, defaults)


def test_api_defaults_are_those_of_the_delegate():
    options = parsed()
    assert options["max_number_delegated_partitions"] == 3
    assert options["disallow_nnapi_cpu"] is True
    assert options["feature_level"] == 1000008


def test_benchmark_defaults_have_no_limit_on_partitions():
    assert parsed("benchmark")["max_number_delegated_partitions"] == 0


def test_unknown_defaults_are_refused():
    with pytest.raises(OptionError, match="api, benchmark"):
        parsed("other")


@pytest.mark.parametrize("name", [*DELEGATE_NAMES, *LIVE_ONLY_NAMES])
@pytest.mark.parametrize("defaults", DEFAULT_SETS)
def test_every_default_can_be_given_as_on_the_command_line(name, defaults):
    declared = find_live(name).options
    given = {option.name: option_value(value) for option in declared if (value := option.default_in(defaults)) is not None}
    assert parse_options(name, declared, given, defaults) == parse_options(name, declared, {}, defaults)


@pytest.mark.parametrize(
    ("given", "level"),
    [
        (27, 27),
        ("1.0", 27),
        ("1.1", 28),
        ("1.2", 29),
        ("1.3", 30),
        ("5", 31),
        (6, 1000006),
        ("7", 1000007),
        ("1000008", 1000008),
    ],
)
def test_feature_levels_by_number_name_and_android_release(given, level):
    assert parsed(feature_level=given)["feature_level"] == level


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("feature_level", 26),
        ("feature_level", "x"),
        ("feature_level", 99),
        ("feature_level", True),
        ("feature_level", None),
        ("device_feature_level", 12),
        ("max_delegated_partitions", "many"),
        ("max_delegated_partitions", 1 << 31),
        ("max_delegated_partitions", 1.5),
        ("disable_nnapi_cpu", "perhaps"),
        ("nnapi_allow_fp16", 3),
        ("driver_rejects", 5),
        ("nnapi_accelerator_name", 5),
    ],
)
def test_a_value_out_of_range_is_refused(name, value):
    with pytest.raises(OptionError, match=f"option {name} of nnapi: takes "):
        parsed(**{name: value})


def test_an_unknown_option_names_the_known_ones():
    with pytest.raises(OptionError, match=r"no option 'max_partitions'.*max_delegated_partitions"):
        parsed(max_partitions=3)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("disallow_nnapi_cpu", "false", False),
        ("allow_fp16", "TRUE", True),
        ("driver_rejects", "MEAN, CONV_2D", ("MEAN", "CONV_2D")),
        ("driver_rejects", [], ()),
        ("accelerator_name", "", None),
        ("max_number_delegated_partitions", " 7 ", 7),
    ],
)
def test_text_from_the_command_line_is_understood(name, text, value):
    assert parsed(**{name: text})[name] == value


@pytest.mark.parametrize("level", [33, "34"])
def test_an_api_level_is_no_feature_level(level):
    with pytest.raises(OptionError, match=r"API level of Android 1[34], not a feature level; use --android 1[34]"):
        parsed(feature_level=level)
