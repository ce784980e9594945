from __future__ import annotations

import pytest

from tests.support.examples import EXAMPLES
from tests.support.ready_parts import CONFIGURATION, pre_commit


@pytest.fixture
def example(tmp_path):
    """Write an example as the file that it names and return the path."""

    def example(name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(EXAMPLES[name], encoding="utf-8")
        return path

    return example


def test_the_configuration_is_the_one_that_the_parts_are_tried_with():
    assert EXAMPLES["delegate-sim.toml"] == CONFIGURATION


@pytest.mark.parametrize(
    ("schema", "name"),
    [("vendor.github-workflows", ".github/workflows/models.yml"), ("vendor.gitlab-ci", ".gitlab-ci.yml")],
)
def test_a_service_takes_the_example(schema_errors, example, schema, name):
    assert schema_errors(schema, example(name)) == ""


def test_pre_commit_takes_the_example(example, environment, tmp_path):
    done = pre_commit(tmp_path, environment, "validate-config", str(example(".pre-commit-config.yaml")))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
