"""The rules for wrong numbers, on a sample of small models, against the numbers of LiteRT's GPU accelerator.

The recorded results lie beside the repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from pathlib import Path

import pytest

from tests.support.delegates.mldrift_numbers import risks_of

SHARED = Path(__file__).resolve().parents[3] / "shared"
RECORDS = SHARED / "oracle-numbers"
MODELS = SHARED / "corpus" / "numbers.zip"
SAMPLE = 250
"""The number of models with right numbers, and of models with wrong numbers, for each release."""

pytestmark = pytest.mark.skipif(
    not (RECORDS.exists() and MODELS.exists()), reason="the recorded numbers (../shared) are not here"
)


def sample(release):
    """Return names of models with right and with wrong numbers that the GPU runs wholly."""
    names = {"right": [], "wrong": []}
    with gzip.open(RECORDS / f"litert-{release}.jsonl.gz", "rt") as lines:
        for record in map(json.loads, lines):
            # Where a condition holds, the values can be equal by chance.
            is_by_chance = "right_by_values" in record
            if record["corpus"] == "numbers" and record["outcome"] == "gpu" and record["verdict"] in names and not is_by_chance:
                names[record["verdict"]].append(record["model"])
    return {verdict: random.Random(7).sample(own, SAMPLE) for verdict, own in names.items()}


@pytest.mark.parametrize("release", ["2.1.6", "2.2.0", "2.3.0"])
def test_a_sample_agrees_with_the_real_numbers(release):
    names = sample(release)
    with zipfile.ZipFile(MODELS) as models:
        found = {name: risks_of(models.read(name), f"litert-{release}") for own in names.values() for name in own}
    assert [name for name in names["wrong"] if not found[name]] == []
    assert [name for name in names["right"] if any(certainty == "wrong" for _, _, certainty in found[name])] == []
    possible = [name for name in names["right"] if found[name]]
    assert len(possible) <= SAMPLE // 50, possible
