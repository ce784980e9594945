"""Which versions of operators each release loads."""

import json
from pathlib import Path

import pytest

from delegate_sim.releases.catalogue import RELEASES, Release, parse_release
from delegate_sim.runtime.resolver import unresolved

FACTS = Path(__file__).parents[3] / "shared" / "resolver-versions.json"
NEWEST = Release("litert", (2, 3))


def test_accepts_up_to_the_highest_version():
    assert unresolved("FULLY_CONNECTED", 1, NEWEST) is None
    assert unresolved("FULLY_CONNECTED", 14, NEWEST) is None
    reason = unresolved("FULLY_CONNECTED", 15, NEWEST)
    assert "FULLY_CONNECTED version 15" in reason
    assert "14" in reason


def test_lowest_version():
    assert "versions 2 to 4" in unresolved("BROADCAST_TO", 1, NEWEST)
    assert unresolved("RESHAPE", 0, NEWEST) is not None


def test_operator_without_kernel():
    assert "no CPU kernel for STABLEHLO_DOT_GENERAL" in unresolved("STABLEHLO_DOT_GENERAL", 1, NEWEST)


@pytest.mark.parametrize(
    ("release", "highest"),
    [("litert-1.0", 6), ("litert-1.1", 6), ("litert-1.2", 7), ("litert-2.1.5", 7), ("litert-2.1.6", 9), ("litert-2.3", 9)],
)
def test_highest_version_rises_with_the_release(release, highest):
    assert unresolved("TRANSPOSE", highest, parse_release(release)) is None
    assert unresolved("TRANSPOSE", highest + 1, parse_release(release)) is not None


def test_release_without_patch_is_the_first_of_its_minor():
    assert unresolved("QUANTIZE", 4, parse_release("litert-2.1")) is None
    assert unresolved("QUANTIZE", 5, parse_release("litert-2.1")) is not None
    assert unresolved("SQRT", 2, parse_release("litert-2.0")) is None


@pytest.mark.parametrize("name", [release for release in RELEASES if release.startswith("tf-")])
def test_tensorflow_lite_counts_as_the_oldest_release_known(name):
    assert unresolved("TRANSPOSE", 6, parse_release(name)) is None
    assert unresolved("TRANSPOSE", 7, parse_release(name)) is not None


@pytest.mark.skipif(not FACTS.is_file(), reason=f"the facts read from every release are not here: {FACTS}")
def test_agrees_with_the_facts_read_from_every_release():
    facts = json.loads(FACTS.read_text())
    operators = {op for versions in facts.values() for op in versions}
    for tag, versions in facts.items():
        release = Release("litert", tuple(map(int, tag[1:].split(".")))) if tag.startswith("v") else NEWEST
        for op in operators:
            lowest, highest = versions.get(op, (1, 0))
            loaded = [version for version in range(highest + 3) if unresolved(op, version, release) is None]
            assert loaded == list(range(lowest, highest + 1)), (tag, op)
