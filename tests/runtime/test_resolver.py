"""The versions of operators that each release loads."""

import itertools
import json
from pathlib import Path

import pytest

from delegate_sim.model.schema import enum_names
from delegate_sim.releases.catalogue import KNOWN_RELEASES, RELEASES, Release, parse_release
from delegate_sim.runtime.resolver import Loads, loads, refusal_lines, unresolved

MEASURED = Path(__file__).with_name("registered_versions.json")
FACTS = Path(__file__).parents[3] / "shared" / "resolver-versions.json"
NEWEST = Release("litert", (2, 3))
OPERATORS = [op for op in enum_names("BuiltinOperator").values() if op != "CUSTOM"]


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


@pytest.mark.parametrize(
    ("release", "highest"),
    [
        ("tf-2.10", 9),
        ("tf-2.12", 9),
        ("tf-2.13", 10),
        ("tf-2.14", 10),
        ("tf-2.15", 11),
        ("tf-2.16.2", 11),
        ("tf-2.17", 12),
        ("tf-2.18", 13),
        ("tf-2.20", 13),
        ("tf-2.21", 14),
        ("litert-1.0.1", 13),
        ("litert-2.0.3", 13),
        ("litert-2.1.0", 14),
    ],
)
def test_fully_connected(release, highest):
    answers = {version: loads("FULLY_CONNECTED", version, parse_release(release)) for version in range(20)}
    assert [version for version, answer in answers.items() if answer is Loads.YES] == list(range(1, highest + 1))
    assert set(answers.values()) == {Loads.YES, Loads.NO}


@pytest.mark.parametrize(
    ("op", "first"),
    [
        ("SIGN", {"tf-2.11", "litert-1.0.1"}),
        ("BITCAST", {"tf-2.13", "litert-1.0.1"}),
        ("DILATE", {"tf-2.15", "litert-1.0.1"}),
        ("STABLEHLO_GATHER", {"tf-2.16", "litert-1.0.1"}),
        ("STABLEHLO_SHIFT_LEFT", {"tf-2.18", "litert-1.1.0"}),
        ("STABLEHLO_CASE", {"tf-2.19", "litert-1.1.0"}),
    ],
)
def test_operators_that_came_later(op, first):
    loading = [name for name in KNOWN_RELEASES if loads(op, 1, parse_release(name)) is Loads.YES]
    assert {min(of_family, key=KNOWN_RELEASES.index) for of_family in _by_family(loading)} == first


def _by_family(names):
    return [[name for name in names if name.startswith(family)] for family in ("tf-", "litert-")]


@pytest.mark.parametrize(
    ("tensorflow", "litert", "op", "versions"),
    [
        ("tf-2.18", "litert-1.0.1", "STABLEHLO_AND", (1, None)),
        ("tf-2.20", "litert-1.4.0", "PAD", (5, 4)),
        ("tf-2.20", "litert-2.0.2", "SQRT", (1, 2)),
    ],
)
def test_tensorflow_is_not_the_litert_of_its_time(tensorflow, litert, op, versions):
    highest = []
    for name in (tensorflow, litert):
        loaded = [version for version in range(20) if loads(op, version, parse_release(name)) is Loads.YES]
        highest.append(max(loaded, default=None))
    assert tuple(highest) == versions


@pytest.mark.parametrize(("tensorflow", "litert"), [("tf-2.19", "litert-1.1.2"), ("tf-2.21", "litert-2.1.2")])
def test_tensorflow_is_the_litert_of_its_time(tensorflow, litert):
    assert _loaded(tensorflow) == _loaded(litert)


@pytest.mark.parametrize("family", ["tf-", "litert-"])
def test_no_release_takes_back_a_version(family):
    names = [name for name in KNOWN_RELEASES if name.startswith(family)]
    assert all(_loaded(older) <= _loaded(newer) for older, newer in itertools.pairwise(names))


@pytest.mark.parametrize(
    ("release", "operators"),
    [("tf-2.10", 152), ("tf-2.14", 157), ("tf-2.17", 168), ("tf-2.21", 172), ("litert-1.0.1", 169), ("litert-2.3", 172)],
)
def test_number_of_operators(release, operators):
    assert len({op for op, _ in _loaded(release)}) == operators


def _loaded(name):
    release = parse_release(name)
    return {(op, version) for op in OPERATORS for version in range(20) if loads(op, version, release) is Loads.YES}


@pytest.mark.parametrize("name", [*KNOWN_RELEASES, *RELEASES])
def test_every_release_on_offer_is_known(name):
    assert all(loads(op, 1, parse_release(name)) is not Loads.UNKNOWN for op in OPERATORS)


@pytest.mark.parametrize("release", [Release("tf", (2, 9)), Release("litert", (0, 9))])
def test_says_what_is_not_known(release):
    assert loads("ADD", 1, release) is Loads.UNKNOWN
    assert unresolved("ADD", 1, release).endswith(f"{release} loads ADD version 1")
    assert refusal_lines("ADD", 99, release) == ()


@pytest.mark.parametrize("name", ["tf-2.14", "litert-1.0.1", "litert-2.1.7"])
def test_reason_agrees_with_the_answer(name):
    release = parse_release(name)
    for op in OPERATORS:
        for version in range(20):
            is_loaded = loads(op, version, release) is Loads.YES
            assert (unresolved(op, version, release) is None) == is_loaded
            assert (refusal_lines(op, version, release) == ()) == is_loaded


def test_refusal_of_a_version():
    assert refusal_lines("FULLY_CONNECTED", 12, parse_release("tf-2.14")) == (
        "Didn't find op for builtin opcode 'FULLY_CONNECTED' version '12'. An older version of this builtin might be supported. "
        "Are you using an old TFLite binary with a newer model?",
        "Registration failed.",
    )


@pytest.mark.parametrize(
    ("op", "code", "oldest_with_it"),
    [
        ("UNSORTED_SEGMENT_MIN", 157, "tf-2.11"),
        ("RIGHT_SHIFT", 161, "tf-2.13"),
        ("STABLEHLO_DOT_GENERAL", 197, "tf-2.15"),
        ("STABLEHLO_COMPOSITE", 206, "tf-2.17"),
        ("STABLEHLO_CBRT", 208, "tf-2.18"),
        ("STABLEHLO_CASE", 209, "tf-2.19"),
        ("STABLEHLO_CBRT", 208, "litert-1.1.0"),
    ],
)
def test_refusal_of_an_operator_newer_than_the_schema(op, code, oldest_with_it):
    before = KNOWN_RELEASES[KNOWN_RELEASES.index(oldest_with_it) - 1]
    line, _ = refusal_lines(op, 99, parse_release(before))
    assert line == f"Op builtin_code out of range: {code}. Are you using old TFLite binary with newer model?"
    assert refusal_lines(op, 99, parse_release(oldest_with_it))[0].startswith(f"Didn't find op for builtin opcode '{op}'")


def test_refusal_of_an_operator_without_a_name():
    assert refusal_lines("UNKNOWN(250)", 1, NEWEST)[0].startswith("Op builtin_code out of range: 250.")
    assert refusal_lines("UNKNOWN(-3)", 1, NEWEST)[0].startswith("Didn't find op for builtin opcode '' version '1'.")


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


def test_agrees_with_what_the_wheels_answered():
    """Measured with ``tools/upstream/resolver_versions.py``; of each release there is what differs from the one before it."""
    known = {}
    for name, changed in json.loads(MEASURED.read_text("utf-8")).items():
        release = parse_release(name)
        known.setdefault(release.family, {}).update(changed)
        measured = dict(known[release.family])
        (first_out_of_range,) = measured.pop("first out of range")
        for code, op in enum_names("BuiltinOperator").items():
            lowest, highest = measured.get(op, (1, 0))
            if op == "CUSTOM":
                continue
            found = [version for version in range(25) if loads(op, version, release) is Loads.YES]
            assert found == list(range(lowest, highest + 1)), (name, op)
            if not found:
                is_out_of_range = "out of range" in refusal_lines(op, 1, release)[0]
                assert is_out_of_range == (code >= first_out_of_range), (name, op)
