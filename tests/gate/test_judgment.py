"""The verdict on a model and a target, given what the baseline says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.gate import judgment
from delegate_sim.gate.baseline import Fallback
from delegate_sim.gate.budgets import Allowance, Budgets, Tolerance
from delegate_sim.gate.judgment import take_entry
from delegate_sim.gate.results import BETTER, FAILED, PASSED
from delegate_sim.model.reader import load
from delegate_sim.results.compare.model_outline import outline
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.version import __version__
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.gate_models import classifier, reshaper
from tests.support.judged_cases import NOT_LOADED, PHONE, entry_of, judged, other_rules, target, two_layers
from tests.support.models import MIXED, chain_model


def codes(case, level):
    return [finding.code for finding in case.findings if finding.level == level]


def places(case, code):
    return [finding.location.node for finding in case.findings if finding.code == code]


# Against the baseline


@pytest.mark.parametrize(("before", "note"), [(0, None), (2, "possibly wrong results: 2 -> 0"), (None, None)])
def test_another_number_of_possibly_wrong_results_is_not_the_same_result(before, note):
    model = chain_model(["ADD"] * 3)
    entry = replace(entry_of(model, target("gpu"), possibly_wrong_results=before), sha256="0" * 64)
    case = judged(model, entry, target("gpu"))
    assert case.status == PASSED
    assert len(case.notes) == 1
    assert (case.notes[0] == note) == (note is not None)


def test_what_is_as_it_was_passes_without_a_word():
    case = judged(classifier(), entry_of(classifier()))
    assert (case.status, case.findings, case.notes, case.changes) == (PASSED, (), (), ())
    assert case.measures == case.baseline
    assert (case.model, case.path, case.target, case.delegate, case.runtime) == (
        "m.tflite", "sub/m.tflite", "phone", "nnapi", "litert-2.3",
    )  # fmt: skip


def test_other_rules_with_the_same_result_pass_without_a_word():
    assert judged(classifier(), other_rules(entry_of(classifier()))).notes == ()


def test_a_node_that_fell_back_is_named_with_what_changed_in_it():
    case = judged(classifier(9), entry_of(classifier()))
    assert case.status == FAILED
    assert codes(case, ERROR) == ["nnapi-operator-version"]
    assert codes(case, NOTE) == [
        "more-partitions", "more-fallback-nodes", "more-border-bytes", "smaller-delegated-share", "smaller-multiply-add-share",
    ]  # fmt: skip
    assert [(change.what, change.old, change.new) for change in case.changes] == [("version", "1", "9")]


def test_the_predicted_failure_of_a_delegate_is_an_error_of_its_own():
    """Core ML's kernel of a FULLY_CONNECTED needs a bias."""
    coreml, chain = target("coreml"), chain_model(["RELU", "RELU"])
    case = judged(two_layers(1, 1), entry_of(chain, coreml), coreml)
    assert (case.status, codes(case, ERROR)) == (FAILED, ["coreml-kernel-bias"])
    assert judged(two_layers(1, 1), entry_of(two_layers(1, 1), coreml), coreml).status == PASSED


def test_nodes_that_a_limit_drops_have_a_later_rank_than_the_refusal():
    """The refused ROUND splits the graph, and the GPU delegate takes only the larger partition."""
    case = judged(chain_model(["ADD", "ROUND", "ADD", "ADD"]), entry_of(chain_model(["ADD"] * 4), target("gpu")), target("gpu"))
    ranks = {finding.code: finding.rank for finding in case.findings if finding.level == ERROR}
    assert sorted(ranks, key=ranks.__getitem__) == ["gpu-unsupported-operator", "partition-limit"]


def test_a_node_that_was_on_the_cpu_already_is_not_named():
    before, now = chain_model(MIXED), chain_model([*MIXED[:-1], "ADD 4"])
    assert places(judged(now, entry_of(before)), "nnapi-operator-version") == [len(MIXED) - 1]


def test_findings_and_changes_beyond_a_limit_are_counted(monkeypatch):
    monkeypatch.setattr(judgment, "_MOST_LISTED", 1)
    found = judged(chain_model(["RELU", *["SQRT 9"] * 3]), entry_of(chain_model(["RELU"] * 4)))
    assert found.status == FAILED
    assert len(found.findings) == len({finding.code for finding in found.findings})
    assert len(found.changes) == 1
    assert "DELEGATE_SIM_LIMITS" in found.notes[-2]
    assert "more changes" in found.notes[-1]


def test_a_refusal_of_the_whole_graph_is_named_once_with_the_nodes_that_it_affects():
    case = judged(reshaper(is_dynamic=True), entry_of(reshaper()))
    assert len(places(case, "dynamic-tensors")) == 1
    assert "worse-outcome" in codes(case, NOTE)


def test_a_model_that_no_longer_loads_is_named_though_nothing_of_it_was_delegated():
    before = chain_model(["ROUND", "LOGISTIC 3"])
    case = judged(chain_model(["ROUND", "LOGISTIC 9"]), entry_of(before))
    assert "worse-outcome" in codes(case, NOTE)
    assert places(case, "operator-not-loaded") == [1]


def test_borders_that_moved_fail_where_no_node_fell_back():
    case = judged(classifier(), entry_of(classifier(), border_bytes=0))
    assert (case.status, codes(case, ERROR)) == (FAILED, ["more-border-bytes"])


def test_fewer_delegated_nodes_of_a_smaller_model_pass():
    case = judged(chain_model(["RELU", "ROUND"]), entry_of(chain_model(["RELU", "RELU", "ROUND"])))
    assert (case.status, case.findings) == (PASSED, ())


def test_a_node_that_fell_back_fails_although_another_cpu_node_is_gone():
    case = judged(chain_model(["RELU", "LOGISTIC 3"]), entry_of(chain_model(["RELU", "LOGISTIC", "ROUND"])))
    assert (case.measures.fallback_nodes, case.baseline.fallback_nodes) == (1, 1)
    assert (case.status, codes(case, ERROR), codes(case, NOTE)) == (
        FAILED, ["nnapi-operator-version"], ["smaller-delegated-share"],
    )  # fmt: skip


def test_what_is_better_passes():
    case = judged(classifier(), entry_of(classifier(9)))
    assert (case.status, case.findings) == (BETTER, ())


def test_what_is_better_in_one_respect_and_worse_in_another_fails():
    case = judged(classifier(), entry_of(classifier(), partitions=0, delegate_kernels=2))
    assert (case.status, codes(case, ERROR)) == (FAILED, ["more-partitions"])


def test_more_boundary_bytes_alone_do_not_fail_a_better_result():
    better = entry_of(classifier(), border_bytes=0, delegate_kernels=2)
    case = judged(classifier(), better)
    assert (case.status, codes(case, ERROR), codes(case, NOTE)) == (BETTER, [], ["more-border-bytes"])
    limited = judged(classifier(), better, budgets=Budgets(tolerance=Tolerance(border_bytes=Allowance())))
    assert (limited.status, codes(limited, ERROR)) == (FAILED, ["more-border-bytes"])
    also_worse = judged(classifier(), entry_of(classifier(), border_bytes=0, delegate_kernels=2, partitions=0))
    assert codes(also_worse, ERROR) == ["more-partitions", "more-border-bytes"]


@pytest.mark.parametrize(("name", "status"), [("xnnpack", PASSED), ("armnn", PASSED), ("gpu", FAILED), ("nnapi", FAILED)])
def test_more_boundary_bytes_cost_nothing_on_the_cpu(name, status):
    on = target(name)
    base = entry_of(chain_model(["ADD", "RELU"]), on, border_bytes=0)
    case = judged(chain_model(["ADD", "RELU"]), base, on)
    assert (case.measures.is_delegated, case.status) == (True, status)
    limited = judged(chain_model(["ADD", "RELU"]), base, on, Budgets(tolerance=Tolerance(border_bytes=Allowance())))
    assert codes(limited, ERROR) == ["more-border-bytes"]


def test_better_in_one_respect_and_within_the_tolerance_in_another_is_no_more_than_passed():
    budgets = Budgets(tolerance=Tolerance(border_bytes=Allowance(64)))
    case = judged(classifier(), entry_of(classifier(), border_bytes=0, delegate_kernels=2), budgets=budgets)
    assert (case.status, codes(case, NOTE)) == (PASSED, ["more-border-bytes"])


def test_more_boundary_bytes_fail_if_another_measure_is_worse_within_its_tolerance():
    budgets = Budgets(tolerance=Tolerance(partitions=Allowance(9)))
    case = judged(classifier(), entry_of(classifier(), border_bytes=0, delegate_kernels=2, partitions=0), budgets=budgets)
    assert (case.status, codes(case, ERROR), codes(case, NOTE)) == (FAILED, ["more-border-bytes"], ["more-partitions"])


def test_within_the_tolerance_nodes_that_fell_back_are_warnings():
    tolerance = Tolerance(Allowance(1), None, Allowance(1), 0.25, Allowance(32), 1.0)
    case = judged(classifier(9), entry_of(classifier()), budgets=Budgets(tolerance=tolerance))
    assert case.status == PASSED
    assert (codes(case, ERROR), codes(case, WARNING)) == ([], ["nnapi-operator-version"])


def test_less_work_on_the_delegate_fails_although_as_many_nodes_are_delegated():
    case = judged(two_layers(9, 1), entry_of(two_layers(1, 9)))
    assert (case.measures.delegated_nodes, case.baseline.delegated_nodes) == (1, 1)
    assert case.status == FAILED
    assert "smaller-multiply-add-share" in codes(case, NOTE)


def test_an_entry_of_an_older_version_has_no_multiply_adds():
    old = replace(entry_of(two_layers(1, 9)), compute=None)
    assert "smaller-multiply-add-share" not in codes(judged(two_layers(9, 1), old), ERROR)


def test_one_measure_beyond_the_tolerance_fails():
    tolerance = Tolerance(Allowance(1), None, Allowance(1), 0.25, multiply_add_share=1.0)
    case = judged(classifier(9), entry_of(classifier()), budgets=Budgets(tolerance=tolerance))
    assert case.status == FAILED
    assert codes(case, ERROR) == ["nnapi-operator-version"]


# The target


@pytest.mark.parametrize(
    ("then", "now", "note"),
    [
        (target(), target(feature_level=28), "--feature-level 1000008 -> 28"),
        (target(), target(release="tf-2.15"), "runtime litert-2.3 -> tf-2.15"),
        (target(max_number_delegated_partitions=3), target(), "--max-delegated-partitions 3 -> 0"),
        (target(release="tf-2.15"), target(allow_fp16=True), "runtime tf-2.15 -> litert-2.3, --nnapi-allow-fp16 False -> True"),
        (target(defaults="api"), target(), "defaults api -> benchmark, --max-delegated-partitions 3 -> 0"),
    ],
)  # fmt: skip
def test_a_target_that_changed_is_told_before_all_else(then, now, note):
    assert judged(classifier(), entry_of(classifier(9), then), now).notes[0].partition(": ")[2] == note


def test_another_delegate_is_told_without_options_that_only_one_of_them_has():
    note = judged(classifier(), entry_of(classifier()), target("gpu")).notes[0]
    assert "delegate nnapi -> gpu" in note
    assert "feature-level" not in note


# A model that does not run


def test_a_model_that_does_not_run_fails_without_an_entry():
    case = judged(NOT_LOADED, None)
    assert (case.status, codes(case, ERROR), case.baseline) == (FAILED, ["operator-not-loaded"], None)
    (finding,) = case.findings
    assert (finding.location.node, finding.location.op) == (1, "LOGISTIC")


def test_an_entry_agrees_to_a_model_that_does_not_run():
    case = judged(NOT_LOADED, entry_of(NOT_LOADED))
    assert (case.status, codes(case, ERROR), codes(case, WARNING)) == (PASSED, [], ["operator-not-loaded"])


def test_a_model_that_ran_before_is_said_once_not_to_run():
    case = judged(NOT_LOADED, entry_of(chain_model(["RELU", "LOGISTIC"])))
    assert places(case, "operator-not-loaded") == [1]


def test_a_refused_graph_runs_on_the_cpu_and_fails_only_against_a_baseline():
    assert judged(reshaper(is_dynamic=True), None).status == PASSED


def test_a_refused_graph_that_the_baseline_has_too_passes_with_a_note():
    case = judged(reshaper(is_dynamic=True), entry_of(reshaper(is_dynamic=True)))
    assert (case.status, codes(case, ERROR), case.notes) == (PASSED, [], ())
    assert len(places(case, "no-work-delegated")) == 1


def test_a_delegate_without_work_is_named_only_if_the_baseline_expects_it():
    """The delegate may take no node, or only nodes without multiply-adds."""
    none, part, whole = chain_model(["ROUND", "ROUND"]), classifier(9), classifier()
    given = [(none, entry_of(none)), (part, entry_of(part)), (whole, entry_of(whole)), (part, entry_of(whole)), (part, None)]
    assert [len(places(judged(*one), "no-work-delegated")) for one in given] == [1, 1, 0, 0, 0]


def test_an_application_may_have_kernels_that_the_runtime_lacks():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [4])
    graph.node("CUSTOM", [source], [result], custom="Mine")
    graph.outputs(result)
    assert codes(judged(builder, None), ERROR) == ["operator-not-registered"]
    assert judged(builder, None, target(assume_ops_registered=True)).status == PASSED


# Budgets


def test_budgets_fail_without_an_entry():
    budgets = Budgets(max_partitions=1, max_fallback=0, min_delegated_share=0.8)
    case = judged(classifier(9), None, budgets=budgets)
    assert (case.status, codes(case, ERROR)) == (FAILED, ["budget-partitions", "budget-fallback", "budget-delegated-share"])


def test_budgets_fail_what_the_baseline_agrees_to():
    case = judged(classifier(9), entry_of(classifier(9)), budgets=Budgets(max_fallback=0))
    assert (case.status, codes(case, ERROR)) == (FAILED, ["budget-fallback"])


def test_what_is_better_still_fails_beyond_a_budget():
    case = judged(chain_model(["RELU", "RELU 3"]), entry_of(chain_model(["RELU 3", "RELU 3"])), budgets=Budgets(max_fallback=0))
    assert (case.status, codes(case, ERROR)) == (FAILED, ["budget-fallback"])


@pytest.mark.parametrize(("forbidden", "named"), [(("ROUND",), ["ROUND"]), (("RELU", "MUL"), []), (("ADD",), ["ADD"]), ((), [])])
def test_operators_that_must_not_stay_on_the_cpu(forbidden, named):
    case = judged(chain_model(MIXED), None, budgets=Budgets(forbid_fallback_ops=forbidden))
    found = [finding for finding in case.findings if finding.code == "budget-fallback-op"]
    assert [finding.location.op for finding in found] == named
    assert case.status == (FAILED if named else PASSED)


# Entries


def test_an_entry_holds_what_the_run_did():
    model = load(chain_model(["ROUND", "RELU", "ADD 4", "ROUND", "RELU"]).bytes())
    run = simulate(model, PHONE)
    entry = take_entry(run, model)
    assert entry.fallback == (
        Fallback(0, "nnapi-operator", frozenset({0, 3})),
        Fallback(0, "nnapi-operator-version", frozenset({2})),
    )
    assert entry.on_cpu == {0: {0, 2, 3}}
    assert (entry.sha256, entry.delegate, entry.runtime, entry.defaults) == (model.sha256, "nnapi", "litert-2.3", "benchmark")
    assert (entry.tool, entry.outline, entry.options["feature_level"]) == (__version__, outline(model), 1000008)


def test_a_share_of_multiply_adds_cannot_be_required_of_a_compiled_program():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    layers.node("CUSTOM", (layers.input("FLOAT32", 1, 8),), custom="edgetpu-custom-op")
    layers.finish()
    case = judged(builder, None, target("edgetpu"), Budgets(min_multiply_add_share=0.5))
    assert (case.status, codes(case, ERROR)) == (FAILED, ["budget-multiply-add-share"])


def test_a_model_without_its_weights_is_warned_of():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x, handle, value, y = (
        graph.input("x", "FLOAT32", (1, 4)),
        graph.tensor("handle", "RESOURCE", ()),
        graph.tensor("value", "FLOAT32", (1, 4)),
        graph.tensor("y", "FLOAT32", (1, 4)),
    )
    graph.node("VAR_HANDLE", [], [handle], options={"shared_name": "a"})
    graph.node("READ_VARIABLE", [handle], [value])
    graph.node("ADD", [x, value], [y], options={})
    graph.outputs(y)
    assert codes(judged(builder, None), WARNING).count("missing-weights") == 1


ACCEPT = "to accept this result: accept it"
KEEP = "to keep this improvement: accept it"
RULES = "(delegate-sim 0.0.9, rule set 000000000000 -> delegate-sim "
MORE_BYTES = {"border_bytes": 0, "delegate_kernels": 2}


def of_other_rules(before):
    """Return an entry of other rules, with the measures of a better model."""
    return replace(other_rules(entry_of(before)), fallback=(), measures=entry_of(classifier()).measures)


@pytest.mark.parametrize(
    ("builder", "entry", "code", "said"),
    [
        (
            classifier(9), entry_of(classifier()), "nnapi-operator-version",
            "fell back to the CPU: version 9; needs version at most 5 (version 1 -> 9)",
        ),
        (
            chain_model(["RELU", "LOGISTIC", "RELU 3"]), entry_of(chain_model(["RELU", "LOGISTIC"])), "nnapi-operator-version",
            "is new and stays on the CPU: version 3; needs version at most 2",
        ),
        (
            reshaper(is_dynamic=True), entry_of(reshaper()), "dynamic-tensors",
            "; 3 nodes fall back for this reason (changed: input 1 constant INT32[2] -> computed)",
        ),
        (
            chain_model(["ROUND", "LOGISTIC 9"]), entry_of(chain_model(["ROUND", "LOGISTIC 3"])), "operator-not-loaded",
            "litert-2.3 does not load LOGISTIC version 9: it supports versions 1 to 3 (changed: version 3 -> 9)",
        ),
        (
            NOT_LOADED, None, "operator-not-loaded",
            "the model does not run (refused, not loaded): litert-2.3 does not load LOGISTIC version 9: it supports versions 1 "
            "to 3",
        ),
        (
            two_layers(9, 1), entry_of(two_layers(1, 9)), "smaller-multiply-add-share",
            "delegated share of multiply-adds: 80 % -> 20 %",
        ),
        (
            reshaper(is_dynamic=True), entry_of(reshaper(is_dynamic=True)), "no-work-delegated",
            "NNAPI on Android 13 is not applied; everything runs on the CPU (the baseline expects that): tensor 3 (flat) of "
            "subgraph 0 is dynamic-sized because input tensor 1 (shape) of node 1 (RESHAPE) is not constant",
        ),
        (
            chain_model(["ROUND"]), entry_of(chain_model(["ROUND"])), "no-work-delegated",
            "NNAPI on Android 13 runs no node; everything runs on the CPU (the baseline expects that)",
        ),
        (
            classifier(9), entry_of(classifier(9)), "no-work-delegated",
            "NNAPI on Android 13 runs 75 % of nodes but 0 % of multiply-adds (the baseline expects that)",
        ),
    ],
)  # fmt: skip
def test_findings(builder, entry, code, said):
    (finding,) = [finding for finding in judged(builder, entry).findings if finding.code == code]
    assert f"{finding.statement} ({finding.change})".removesuffix(" ()").endswith(said)


def test_changes_of_a_baseline(tmp_path, monkeypatch):
    """An update says what is new, and what another result is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.phone]\ndelegate = "nnapi"\n', "utf-8")
    notes = []
    for version in (1, 1, 9):
        classifier(version).write(tmp_path / "m.tflite")
        notes += [case.notes for case in delegate_sim.check(update=True).results.cases]
    assert notes == [
        ("new in the baseline",),
        (),
        (
            "changed in the baseline: partitions 1 -> 2; CPU nodes 0 -> 1; boundary bytes 64 -> 96; delegated share 100 % "
            "-> 75 %; delegated share of multiply-adds 100 % -> 0 %",
        ),
    ]


TOLERANT = Budgets(tolerance=Tolerance(border_bytes=Allowance(64)))


def test_findings_of_budgets():
    case = judged(classifier(), entry_of(classifier(), **MORE_BYTES), budgets=TOLERANT)
    assert [finding.statement for finding in case.findings] == ["boundary bytes: 0 -> 64 (allowed: 64)"]
    forbidden = judged(chain_model(MIXED), None, budgets=Budgets(forbid_fallback_ops=("ROUND",))).findings
    assert any(
        finding.statement.startswith("stays on the CPU, which forbid-fallback-ops does not allow") for finding in forbidden
    )


@pytest.mark.parametrize(
    ("builder", "entry", "budgets", "notes"),
    [
        (classifier(9), entry_of(classifier()), Budgets(), [ACCEPT]),
        (
            classifier(), entry_of(classifier(), border_bytes=0), Budgets(),
            ["no delegated node fell back to the CPU: only the boundaries between partitions moved", ACCEPT],
        ),
        (
            classifier(2), entry_of(classifier(), border_bytes=0), Budgets(),
            ["no delegated node fell back to the CPU", ACCEPT],
        ),
        (
            chain_model(["RELU", "ROUND"]), entry_of(chain_model(["RELU", "RELU", "ROUND"])), Budgets(),
            ["the delegated share is smaller only because the model has fewer nodes (3 -> 2)"],
        ),
        (
            classifier(), entry_of(classifier(9)), Budgets(),
            ["better than the baseline: partitions 2 -> 1; CPU nodes 1 -> 0; boundary bytes 96 -> 64; delegated share 75 % -> "
             "100 %; delegated share of multiply-adds 0 % -> 100 %", KEEP],
        ),
        (
            classifier(), entry_of(classifier(), **MORE_BYTES), Budgets(),
            ["better than the baseline: delegate kernels 2 -> 1", KEEP, "more boundary bytes alone do not fail a better result; "
             "to limit them, set border-bytes in budgets.tolerance"],
        ),
        (
            classifier(), entry_of(classifier(), **MORE_BYTES), TOLERANT,
            ["worse than the baseline, but within the tolerance"],
        ),
        (
            classifier(names="v2/"), entry_of(classifier()), Budgets(),
            ["the model changed since the baseline, but the result is the same"],
        ),
        (
            classifier(9), of_other_rules(classifier(9)), Budgets(),
            [f"the model is the same as in the baseline, but the rules of delegate-sim changed {RULES}", ACCEPT],
        ),
        (
            classifier(9), of_other_rules(classifier()), Budgets(),
            [f"the model and the rules of delegate-sim changed {RULES}", ACCEPT],
        ),
        (
            classifier(), other_rules(entry_of(classifier(9))), Budgets(),
            [f"the model and the rules of delegate-sim changed {RULES}", "better than the baseline", KEEP],
        ),
        (
            classifier(), entry_of(classifier(9), target(release="tf-2.15")), Budgets(),
            ["the target changed since the baseline: runtime tf-2.15 -> litert-2.3", "better than the baseline", KEEP],
        ),
    ],
)  # fmt: skip
def test_notes(builder, entry, budgets, notes):
    found = judged(builder, entry, budgets=budgets).notes
    assert [note[: len(start)] for note, start in zip(found, notes, strict=True)] == notes
