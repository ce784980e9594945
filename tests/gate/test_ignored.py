"""Findings that a configuration ignores."""

from __future__ import annotations

import pytest

from delegate_sim.bundles.model_files import FilePattern
from delegate_sim.gate.configuration import ConfigurationError, matches, read_configuration
from delegate_sim.gate.ignored import Ignored, without_ignored
from delegate_sim.gate.results import FAILED, PASSED, UNREADABLE, Case
from delegate_sim.results.report.findings import ERROR, NOTE, Finding

TARGETS = '[targets.phone]\ndelegate = "nnapi"\n'


def case(*codes, status=FAILED, model="models/m.tflite"):
    findings = tuple([Finding(code, ERROR, "is worse") for code in codes])
    return Case(model, model, "phone@13", "nnapi", "litert-2.3", {}, status, findings)


@pytest.mark.parametrize(
    ("row", "before", "levels", "status"),
    [
        (Ignored("a", "known"), case("a"), [NOTE], PASSED),
        (Ignored("a", "known"), case("a", "b"), [NOTE, ERROR], FAILED),
        (Ignored("b", "known"), case("a"), [ERROR], FAILED),
        (Ignored("a", "known"), case("a", status=UNREADABLE), [NOTE], UNREADABLE),
        (Ignored("a", "known", models=(FilePattern("models/*"),)), case("a"), [NOTE], PASSED),
        (Ignored("a", "known", models=(FilePattern("other/*"),)), case("a"), [ERROR], FAILED),
        (Ignored("a", "known", targets=frozenset({"phone"})), case("a"), [NOTE], PASSED),
        (Ignored("a", "known", targets=frozenset({"phone@13"})), case("a"), [NOTE], PASSED),
        (Ignored("a", "known", targets=frozenset({"phone@12"})), case("a"), [ERROR], FAILED),
    ],
)
def test_ignored_findings_are_notes_and_do_not_fail(row, before, levels, status):
    (after,) = without_ignored([before], [row], {"phone@13": "phone"}, matches)
    assert ([finding.level for finding in after.findings], after.status) == (levels, status)
    assert bool(after.notes) is ({NOTE, ERROR} <= set(levels))
    assert all((finding.ignored == "known") == (finding.level == NOTE) for finding in after.findings)


def test_the_reason_is_in_the_message():
    assert Finding("a", NOTE, "is worse", ignored="known").message == "is worse (ignored: known)"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ('code = "a"\n', r"ignore\.0: has no reason"),
        ('reason = "known"\n', r"ignore\.0: has no code"),
        ('code = "a"\nreason = "known"\ntargets = ["tablet"]\n', "there is no such target; the targets are phone"),
        ('code = "a"\nreason = "known"\nwhy = "x"\n', "there is no such key"),
        (
            'code = "more-fallbak"\nreason = "known"\n',
            r"4: ignore\.0\.code: the targets have no such code; did you mean more-fallback",
        ),
        ('code = "gpu-rank"\nreason = "known"\n', r"4: ignore\.0\.code: the targets have no such code"),
    ],
)
def test_a_row_that_is_wrong(tmp_path, rows, problem):
    path = tmp_path / "delegate-sim.toml"
    path.write_text(f"{TARGETS}[[ignore]]\n{rows}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=problem):
        read_configuration(str(path))


def test_rows_are_read(tmp_path):
    path = tmp_path / "delegate-sim.toml"
    row = 'code = "more-fallback-nodes"\nreason = "known"\nmodels = "m*"\ntargets = "phone"\n'
    path.write_text(f"{TARGETS}[[ignore]]\n{row}", encoding="utf-8")
    ignored = Ignored("more-fallback-nodes", "known", (FilePattern("m*"),), frozenset({"phone"}))
    assert read_configuration(str(path)).ignored == (ignored,)
