"""The search among conversions, with converters that are none."""

from __future__ import annotations

import pytest

from delegate_sim.conversion.cache import ConversionCache
from delegate_sim.conversion.convert import Failure, FailureKind
from delegate_sim.conversion.settings import FLOAT, parse_settings
from delegate_sim.errors import OptionError
from delegate_sim.runtime.target import with_labels
from delegate_sim.sweeping import search as search_module
from delegate_sim.sweeping import sweep as sweep_module
from delegate_sim.sweeping.sweep import sweep
from delegate_sim.sweeping.sweep_result import SweepRequest
from tests.support.conversion.sweep_conversions import HALF, MISSING, QUANTIZED, SOURCE, TENSORFLOW, Fake, dense
from tests.support.diagnoses import target

PHONE = target("nnapi", {"nnapi_runtime": "13"})
INTEGER_ONLY = target("hexagon", {"min_nodes_per_partition": 1})


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """Sweep with a fake; the result has the fake's calls."""

    def run(*targets, routes=(TENSORFLOW,), failures=(), make=dense, show=lambda *_: None, usual=False, **asked):
        fake = Fake(tmp_path, failures, make)
        if not usual:
            monkeypatch.setattr(search_module, "usual_trials", lambda *_, **__: ())
        monkeypatch.setattr(sweep_module, "convert", fake)
        found = sweep(SOURCE, targets, routes, ConversionCache(str(tmp_path)), SweepRequest(**asked), show)
        return found, [name for _, name in fake.asked]

    return run


def named(found):
    return {row.conversion.settings.name: row for row in found.rows}


def test_the_search_begins_with_float_and_goes_where_diagnosis_points(swept):
    found, asked = swept(PHONE)
    assert asked == ["float", "float+fixed"]
    first, second = found.rows
    assert (first.origin.row, first.costs[0].measures.delegated_nodes) == (None, 0)
    assert (second.origin.row, second.origin.target, second.origin.cause) == (1, "nnapi", "dynamic-shape:inputs")
    assert second.costs[0].multiply_add_share == 1
    assert found.best_for("nnapi") == second


def test_a_target_that_takes_integers_only_points_to_int8(swept):
    found, asked = swept(INTEGER_ONLY)
    assert asked[0] == "float"
    assert "int8+per-tensor+fixed" in asked
    excluded = found.excluded_for("hexagon")
    assert excluded.conversion.settings.name == "int8+per-tensor+fixed"
    assert "random numbers" in excluded.why_not_best(1.0)
    assert found.best_for("hexagon").conversion.settings.quantization == "float"


def test_dense_layers_with_a_scale_for_each_channel_are_refused_and_with_one_taken(swept):
    found, asked = swept(PHONE, settings=(parse_settings("int8+fixed"),))
    assert "int8+dense-per-tensor+fixed" in asked
    rows = named(found)
    refused, taken = rows["int8+fixed"].costs[0].measures, rows["int8+dense-per-tensor+fixed"].costs[0].measures
    assert (refused.outcome, refused.delegated_nodes) == ("restored", 0)
    assert (taken.outcome, taken.delegated_nodes, taken.nodes) == ("delegated", 3, 3)


def test_more_than_float_is_tried_where_nothing_is_asked_for(swept):
    _, asked = swept(PHONE, usual=True)
    assert asked[:3] == ["float", "float16", "dynamic-range"]
    _, asked = swept(PHONE, usual=True, settings=(parse_settings("int16x8"),))
    assert "float16" not in asked
    _, asked = swept(PHONE, usual=True, routes=(MISSING,))
    assert asked == ["float"]


def test_a_quantized_row_without_a_quantized_tensor_is_an_error(swept):
    found, _ = swept(PHONE, settings=(parse_settings("int8"),), make=lambda settings: dense(FLOAT))
    row = named(found)["int8"]
    assert not row.is_model
    assert "int8" in row.failure


def test_what_changes_nothing_is_not_followed(swept, monkeypatch):
    monkeypatch.setattr(sweep_module, "unquantized", lambda *_: "")
    found, asked = swept(INTEGER_ONLY, make=lambda settings: dense(FLOAT))
    assert set(asked) == {"float", *[row.conversion.settings.name for row in found.rows[1:]]}
    assert all(row.same_as == 1 for row in found.rows[1:])
    assert {row.origin.row for row in found.rows[1:]} == {1}


def test_a_row_taken_as_the_one_before_points_nowhere(swept, monkeypatch):
    """Other weights in the same graph: another file, to which no target does anything else."""
    monkeypatch.setattr(sweep_module, "unquantized", lambda *_: "")
    found, asked = swept(INTEGER_ONLY, make=lambda settings: dense(FLOAT, is_wrong=settings != FLOAT))
    assert [row.same_as for row in found.rows] == [None, None, *[2] * (len(asked) - 2)]
    assert {row.origin.row for row in found.rows[1:]} == {1}


def test_everything_is_tried_when_asked_for(swept):
    _, asked = swept(PHONE, everything=True)
    assert {"float", "float16", "dynamic-range", "int8", "int16x8", "int8+dense-per-tensor", "int8+integer-io"} <= set(asked)
    assert "int8+fixed" in asked, "a fixed batch changes something, and so goes with every quantization"
    assert "int8+unfolded" not in asked, "there is no BATCH_MATMUL to unfold"
    assert len(asked) == len(set(asked))


def test_a_quantizer_goes_on_from_the_float_model(swept, tmp_path):
    found, _ = swept(INTEGER_ONLY, routes=(TENSORFLOW, QUANTIZED), settings=(FLOAT, parse_settings("int8+fixed")))
    names = {row.name for row in found.rows}
    assert {"tensorflow: int8+fixed", "tensorflow + ai-edge-quantizer: int8+fixed"} <= names
    assert "tensorflow + ai-edge-quantizer: float" not in names


def test_a_failure_is_a_row_and_the_others_go_on(swept):
    crash = Failure(FailureKind.CRASHED, "the converter ended with signal 11")
    found, _ = swept(PHONE, INTEGER_ONLY, failures={"float+fixed": crash})
    row = named(found)["float+fixed"]
    assert (row.conversion.failure, row.costs, row.is_best) == (crash, (), False)
    assert named(found)["int8+per-tensor+fixed"].is_model


def test_after_an_error_with_unknown_sizes_fixed_sizes_are_tried(swept):
    lists = Failure(FailureKind.ERROR, "the lists of a loop have unknown sizes")
    found, asked = swept(PHONE, failures={"float": lists}, usual=True)
    assert asked[:4] == ["float", "float+fixed", "float16+fixed", "dynamic-range+fixed"]
    assert found.rows[1].origin.row == 1
    assert found.rows[1].is_float_model
    _, asked = swept(PHONE, failures={"float": lists}, settings=(parse_settings("int8"),))
    assert asked[:3] == ["float", "float+fixed", "int8"]


def test_a_missing_converter_is_a_row_that_says_what_to_install(swept):
    found, _ = swept(PHONE, routes=(MISSING,))
    (row,) = found.rows
    assert row.failure == "missing: not installed: pip install '.[sweep-tf]'"
    assert found.best_for("nnapi") is None
    assert found.models == ()


def test_what_is_not_installed_is_tried_once(swept):
    found, asked = swept(PHONE, INTEGER_ONLY, routes=(TENSORFLOW, HALF), settings=(parse_settings("int8+fixed"),))
    rows = [row for row in found.rows if row.conversion.route == HALF]
    assert [row.conversion.failure.kind for row in rows] == [FailureKind.MISSING]
    assert len(asked) > 4


def test_a_file_that_is_no_model_is_a_row(swept, tmp_path, monkeypatch):
    class Broken:
        def bytes(self):
            return b"nothing"

    found, _ = swept(PHONE, make=lambda settings: Broken())
    (row,) = found.rows
    assert not row.is_model
    assert row.failure


def test_an_interruption_leaves_the_finished_rows(swept):
    found, _ = swept(PHONE, failures={"float+fixed": KeyboardInterrupt()})
    assert found.is_interrupted
    assert [row.conversion.settings.name for row in found.rows] == ["float"]
    assert found.rows[0].is_best


def test_sizes_that_are_given_are_tried_from_the_beginning(swept):
    _found, asked = swept(PHONE, shapes=(("x", (1, 2)),))
    assert asked[:2] == ["float", "float+fixed+x=1x2"]


def test_progress_tells_what_is_done_and_what_is_known_to_be_left(swept):
    told = []
    swept(PHONE, show=lambda *what: told.append(what))
    assert told == [(0, 1, "tensorflow: float"), (1, 1, "tensorflow: float+fixed")]


def test_targets_of_one_delegate_are_told_apart():
    assert [each.label for each in with_labels([PHONE, INTEGER_ONLY, PHONE])] == ["nnapi#1", "hexagon", "nnapi#2"]


def test_a_target_that_was_not_asked_for(swept):
    found, _ = swept(PHONE)
    with pytest.raises(OptionError, match="there is no target 'gpu'; choose from nnapi"):
        found.best_for("gpu")


def test_the_difference_is_from_the_float_model(swept):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    found, _ = swept(PHONE, settings=(parse_settings("int8+fixed"),))
    rows = named(found)
    assert (rows["float"].error, rows["float+fixed"].error) == (0, 0)
    error = rows["int8+fixed"].error
    assert error is not None
    assert 0 < error < 1


def test_a_difference_is_measured_once(swept, monkeypatch):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    first, _ = swept(PHONE)
    monkeypatch.setattr(sweep_module, "compare_models", None)
    second, _ = swept(PHONE)
    assert [row.error for row in second.rows] == [row.error for row in first.rows] == [0, 0]


def test_a_difference_that_cannot_be_measured_says_why(swept, monkeypatch):
    import delegate_sim.inference.difference as inference

    monkeypatch.setattr(inference, "_PACKAGE", "no_such_package")
    monkeypatch.setattr(sweep_module, "_RUNTIMES", ())
    found, _ = swept(PHONE)
    assert [row.error for row in found.rows] == [0, None], "the float model needs no measurement"
    assert "pip install '.[fix]'" in found.rows[1].no_difference


def test_without_a_float_model_there_is_no_difference(swept):
    crash = Failure(FailureKind.CRASHED, "gone")
    found, _ = swept(PHONE, failures={"float": crash}, settings=(parse_settings("int8+fixed"),))
    assert "float model" in named(found)["int8+fixed"].no_difference
