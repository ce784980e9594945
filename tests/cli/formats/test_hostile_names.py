"""What services read of a model with hostile names follows their schemas."""

from __future__ import annotations

import json

from tests.cli.formats import test_gitlab
from tests.cli.test_output_safety import model, rendered

__all__ = ["model"]


def test_sarif(run, model, sarif_validator):
    document = json.loads(rendered(run, model, "sarif"))
    sarif_validator.validate(document)
    assert document["runs"][0]["results"]


def test_junit(run, model, junit_validator):
    junit_validator.validate(rendered(run, model, "junit"))


def test_gitlab_reports(run, model):
    entries = json.loads(rendered(run, model, "gitlab"))
    test_gitlab.check_entries(entries)
    assert entries
