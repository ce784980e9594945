"""Profiles of drivers."""

from __future__ import annotations

import json
import re

import pytest

import delegate_sim
from delegate_sim import OptionError
from delegate_sim.delegates.driver_profile import read_profile
from tests.support.models import chain_model


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "driver.toml"
    path.write_text('schema = "delegate-sim/driver/1"\n[[rejects]]\noperation = "RELU"\ntypes = ["FLOAT32"]\nrank = 2\n')
    return path


def test_a_simulation_goes_by_the_profile(profile):
    content = chain_model(["ADD", "RELU", "TANH", "ADD"]).bytes()
    report = delegate_sim.analyze(content, options={"driver": profile, "driver_rejects": ["TANH"]}, defaults="api").to_dict()
    (run,) = report["runs"]
    assert [node["delegated"] for node in run["subgraphs"][0]["nodes"]] == [True, False, False, True]
    assert {reason["found"] for node in run["subgraphs"][0]["nodes"] for reason in node["reasons"]} == {"RELU", "TANH"}
    assert run["options"]["driver"] == "driver.toml"
    json.dumps(report)


def test_the_profile_counts_only_where_the_driver_is_asked(profile):
    content = chain_model(["ADD", "RELU", "ADD"]).bytes()
    for options, delegated in (({"feature_level": 28}, 3), ({"disallow_nnapi_cpu": False}, 3), ({}, 2)):
        (run,) = delegate_sim.analyze(content, options={"driver": profile, **options}, defaults="api").to_dict()["runs"]
        assert run["subgraphs"][0]["nodes_delegated"] == delegated


def test_equal_files_are_equal_options(profile):
    first, second = (
        delegate_sim.analyze(chain_model(["ADD"]).bytes(), options={"driver": profile}, defaults="api") for _ in range(2)
    )
    assert first.runs[0].options == second.runs[0].options


START = 'schema = "delegate-sim/driver/1"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 1\n", "driver.toml:1: schema: takes 'delegate-sim/driver/1'"),
        ("", "schema is missing"),
        ("schema = [\n", "is not TOML"),
        (
            f"{START}more = 1\n",
            "driver.toml:2: there is no such key; the keys are accelerator, logs, rejects, rejects_one_of, schema, seen",
        ),
        (
            f'{START}[[rejects]]\noperation = "ADD"\n\n[[rejects]]\noperation = "ADD"\nrank = -1\n',
            "driver.toml:7: rejects.1.rank: takes",
        ),
        (f"{START}[[rejects]]\nrank = 1\n", "driver.toml:2: rejects.0: operation is missing"),
        (f"{START}[rejects]\nrank = 1\n", "driver.toml:2: rejects: takes tables; write [[rejects]]"),
        (f'{START}[[rejects]]\noperation = "ADD"\nshapes = [[1, "x"]]\n', "driver.toml:4: rejects.0.shapes: takes shapes"),
        (
            f'{START}[[rejects]]\noperation = "ADD"\ntypes = "FLOAT32"\n',
            "driver.toml:4: rejects.0.types: takes a list of strings",
        ),
        (
            f'{START}[[seen]]\noperation = "ADD"\ntypes = []\nshapes = []\naccepted = true\nlogs = [0]\n',
            "driver.toml:7: seen.0.logs: takes numbers below 0, the number of [[logs]]",
        ),
        (
            f'{START}[[seen]]\noperation = "ADD"\ntypes = []\nshapes = []\naccepted = 1\n',
            "driver.toml:6: seen.0.accepted: takes true",
        ),
        (f"{START}rejects = {'[' * 3000}\n", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path, text, message):
    path = tmp_path / "driver.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        read_profile(str(path))
    assert str(raised.value).isprintable()
    with pytest.raises(OptionError, match="option driver of nnapi: "):
        delegate_sim.analyze(chain_model(["ADD"]).bytes(), options={"driver": str(path)}, defaults="api")


def test_what_is_not_a_file(tmp_path):
    for value, message in (
        (tmp_path / "no\n.toml", r"no\\n\.toml: No such file"),
        (tmp_path, "Is a directory"),
        (5, "takes the path"),
    ):
        with pytest.raises(OptionError, match=message):
            delegate_sim.analyze(chain_model(["ADD"]).bytes(), options={"driver": value}, defaults="api")


def test_nothing_is_no_profile():
    for value in (None, ""):
        (run,) = delegate_sim.analyze(chain_model(["ADD"]).bytes(), options={"driver": value}, defaults="api").to_dict()["runs"]
        assert run["options"]["driver"] is None
