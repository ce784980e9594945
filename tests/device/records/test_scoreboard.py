"""Recorded device runs compared with predictions."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from delegate_sim.device.parse.log import read_lines
from delegate_sim.device.records import scoreboard
from delegate_sim.device.records.reading import Asked, Recorded
from delegate_sim.device.records.scoreboard import score_records
from delegate_sim.errors import OptionError
from delegate_sim.model.reader import load
from delegate_sim_cli.text.device.scoreboard import CLASSES
from tools.packaging.wheel import MODEL

RELEASE = "litert-2.3"
GPU = ("gpu", "GPU", RELEASE)


@pytest.fixture
def models():
    return {"m.tflite": str(MODEL)}


def score(models, recorded, target=GPU, **asked):
    board = score_records([(Asked("a.json", "m.tflite", *target, **asked), recorded)], models)
    return board.scores[0]


@pytest.fixture
def predicted(models):
    """Return the predicted number of all nodes and of the delegated nodes."""
    one = score(models, Recorded(delegated=-1)).values[0]
    return 15, int(one.predicted)


@pytest.mark.parametrize(
    ("recorded", "difference"),
    [
        (lambda delegated: Recorded(loads=True, nodes=15, delegated=delegated), ""),
        (lambda delegated: Recorded(delegated=delegated - 1), "more-nodes-predicted"),
        (lambda delegated: Recorded(delegated=delegated + 1), "fewer-nodes-predicted"),
        (lambda delegated: Recorded(is_whole=True), "fewer-nodes-predicted"),
        (lambda delegated: Recorded(is_whole=False), ""),
        (lambda delegated: Recorded(loads=False), "fails-only-recorded"),
        (lambda delegated: Recorded(delegated=delegated, operators=Counter(SUB=delegated)), "other-operators"),
    ],
)
def test_a_value_is_equal_or_has_the_class_of_its_difference(models, predicted, recorded, difference):
    one = score(models, recorded(predicted[1]))
    assert (one.status, [part.difference for part in one.values if part.difference]) == (
        ("different", [difference]) if difference else ("equal", [])
    )
    assert difference in {"", *CLASSES}


@pytest.mark.parametrize(
    ("recorded", "target", "asked", "reason"),
    [
        (Recorded(), GPU, {}, "states-nothing"),
        (Recorded(loads=True), ("", "npu_qnn", RELEASE), {}, "not-simulated"),
        (Recorded(loads=True), ("gpu", "GPU", "litert-0.16.0"), {}, "unknown-release"),
        (Recorded(loads=True), ("gpu", "GPU", "litert-99.0"), {}, "unknown-release"),
        (Recorded(loads=True), GPU, {"sha256": "0" * 64}, "other-model"),
        (Recorded(nodes=4, delegated=2), GPU, {}, "other-model"),
    ],
)
def test_a_record_that_is_not_compared_has_a_reason(models, recorded, target, asked, reason):
    one = score(models, recorded, target, **asked)
    assert (one.status, one.reason) == ("not-compared", reason)


def test_the_digest_of_a_model_is_that_of_its_file(models):
    (path,) = models.values()
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    assert score(models, Recorded(loads=True), sha256=digest).status == "equal"


def test_models_that_are_missing_or_broken(models, tmp_path):
    assert score({}, Recorded(loads=True)).reason == "no-model"
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"no model")
    assert score({"m.tflite": str(broken)}, Recorded(loads=True)).reason == "unreadable-model"


@pytest.mark.parametrize(
    ("operator", "accepts", "difference"),
    [
        ("GELU", True, ""),
        ("GELU", False, "accepted-only-predicted"),
        ("HASHTABLE", True, "refused-only-predicted"),
        ("HASHTABLE", False, ""),
    ],
)
def test_an_operator_is_compared_with_the_rules(operator, accepts, difference):
    asked = Asked("a.json", "", "mldrift", "gpu_mldrift", RELEASE, operator=operator)
    (one,) = score_records([(asked, Recorded(accepts=accepts))], {}).scores
    assert one.values[0].difference == difference


def test_a_log_is_reconciled(models, predicted):
    line = "INFO: Replacing {} out of 15 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for subgraph 0."
    own = Asked("a.log", "", "", "", "")
    logs = [read_lines([line.format(count)]) for count in (predicted[1], 3)]
    board = score_records([(own, Recorded(log=log)) for log in logs], models)
    assert [one.accelerator for one in board.scores] == ["gpu", "gpu"]
    assert board.scores[1].values[0].difference in ("log-explained", "log-unexplained")


def test_each_model_is_predicted_once_for_a_target(models, monkeypatch):
    simulated = []
    real = scoreboard.simulate
    monkeypatch.setattr(scoreboard, "simulate", lambda *given, **named: simulated.append(given) or real(*given, **named))
    records = [(Asked("a.json", "m.tflite", *GPU), Recorded(loads=True))] * 5
    assert score_records(records, models).count("equal") == 5
    assert len(simulated) == 1


def test_a_broken_model_is_read_once(tmp_path, monkeypatch):
    (tmp_path / "m.tflite").write_bytes(b"no model")
    loaded = []
    real = scoreboard.load
    monkeypatch.setattr(scoreboard, "load", lambda path: loaded.append(path) or real(path))
    records = [(Asked("a.json", "m.tflite", *GPU), Recorded(loads=True))] * 5
    assert score_records(records, {"m.tflite": str(tmp_path / "m.tflite")}).classes == {"unreadable-model": 5}
    assert len(loaded) == 1


def test_all_records_of_a_model_share_a_limit(models, monkeypatch):
    monkeypatch.setattr("delegate_sim.graph.effort._MOST_NODES", 1)
    log = read_lines(["INFO: Replacing 3 out of 15 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions."])
    records = [(Asked("a.json", "m.tflite", "gpu", "GPU", f"litert-{name}"), Recorded(loads=True)) for name in ("2.1.3", "2.3.0")]
    board = score_records([*records, *records, (Asked("a.log", "", "", "", ""), Recorded(log=log))], models)
    limit = "too-many-simulations"
    assert [score.reason for score in board.scores] == ["", limit, "", limit, limit]
    assert board.scores[2].status == "equal"
    assert {"too-many-simulations"} < set(CLASSES)


def test_an_unknown_release_of_the_user_is_an_error(models):
    with pytest.raises(OptionError, match="there is no runtime"):
        score_records([], models, release="litert-0.1")


def test_each_model_is_read_once(models, monkeypatch):
    read = []
    monkeypatch.setattr(scoreboard, "load", lambda path: read.append(path) or load(path))
    models = {**models, "other.tflite": str(MODEL.with_name("pooling.tflite"))}
    names = ["m.tflite", "other.tflite"] * 3
    records = [
        (Asked("a.json", name, "gpu", "GPU", f"litert-2.{number // 2}"), Recorded(loads=True))
        for number, name in enumerate(names)
    ]
    assert [found.subject for found in score_records(records, models).scores] == names
    assert sorted(read) == sorted(models.values())
