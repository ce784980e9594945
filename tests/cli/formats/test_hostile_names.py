"""Files for services follow their schemas for models with hostile names."""

from __future__ import annotations

import json

import pytest

from tests.support.cli.format_cases import check_entries
from tests.support.cli.hostile_output import rendered, write_hostile_model


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return write_hostile_model()


@pytest.mark.slow
def test_sarif(run, model, sarif_validator):
    document = json.loads(rendered(run, model, "sarif"))
    sarif_validator.validate(document)
    assert document["runs"][0]["results"]


def test_junit(run, model, junit_validator):
    junit_validator.validate(rendered(run, model, "junit"))


def test_gitlab_reports(run, model):
    entries = json.loads(rendered(run, model, "gitlab"))
    check_entries(entries)
    assert entries
