"""Sentences of a case, for people: statements of findings, and notes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.gate.budgets import Allowance, Budgets, Tolerance
from tests.gate.test_judgment import NOT_LOADED, entry_of, judged, other_rules, target, two_layers
from tests.support.gate_models import classifier, reshaper
from tests.support.models import MIXED, chain_model

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
