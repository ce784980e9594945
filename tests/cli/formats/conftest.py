from __future__ import annotations

import json
import os

import jsonschema
import pytest
import xmlschema

from tests.support.cli.published_schemas import JUNIT, SARIF, schema


@pytest.fixture(autouse=True)
def _no_service(monkeypatch):
    for name in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


def _path(published):
    """Skip where pip reaches no index; a service is to fail there."""
    try:
        return schema(published)
    except OSError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def sarif_validator():
    content = json.loads(_path(SARIF).read_text(encoding="utf-8"))
    return jsonschema.Draft4Validator(content, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


@pytest.fixture(scope="session")
def junit_validator():
    return xmlschema.XMLSchema(str(_path(JUNIT)))
