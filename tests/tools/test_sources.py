"""Sources are looked up in git trees and source packages; what is missing or ambiguous is a problem."""

from __future__ import annotations

import subprocess
import sys

import pytest

from delegate_sim.rules.rule import Repository, Source
from tools import sources
from tools.sources import SourceProblem, file_text, measured

LONG_FUNCTION = "\n".join(
    [
        "bool Validate(Op op) {",
        "  switch (op.code) {",
        "    case kTfLiteBuiltinAdd:",
        "    case kTfLiteBuiltinConv2d: {",
        "      return true;",
        "    }",
        "    case kTfLiteBuiltinCustom:",
        '      if (op.name == "Resampler") return true;',
        *["      log();"] * 100,
        "      return false;",
        "  }",
        "}",
    ]
)
UPSTREAM = f"""// IsMissing is named in a comment only.
bool Declared(int version);
bool Twice(int version) {{ return version < 2; }}
bool Twice(float scale) {{
  return scale < 2;
}}
{LONG_FUNCTION}
"""


@pytest.fixture
def tree(tmp_path):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    (tmp_path / "x.cc").write_text(UPSTREAM)
    for arguments in (["init", "-q"], ["add", "x.cc"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    repository = Repository("example/x", commit)
    return {"example/x": str(tmp_path)}, Source(repository, "x.cc", "Validate")


def test_a_long_function_has_the_branches_of_operators(tree):
    trees, validate = tree
    lines = dict(measured(validate, ("ADD", "CONV_2D", "MUL", "Resampler"), trees))
    assert lines == {
        validate: (7, 117),
        validate.with_branch("ADD"): (9, 12),
        validate.with_branch("CONV_2D"): (9, 12),
        validate.with_branch("Resampler"): (13, 115),
    }
    assert dict(measured(validate.with_branch("op.name"), (), trees)) == {validate.with_branch("op.name"): (14, 14)}


def test_an_overload_is_told_by_a_word(tree):
    trees, validate = tree
    source = validate.with_symbol("Twice", "scale")
    assert dict(measured(source, ("ADD",), trees)) == {source: (4, 6)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda source: source.with_symbol("IsMissing"), "no such definition"),
        (lambda source: source.with_symbol("Declared"), "no such definition"),
        (lambda source: source.with_symbol("Other::Validate"), "no such definition"),
        (lambda source: source.with_symbol("Twice"), "2 of 2 definitions fit"),
        (lambda source: source.with_symbol("Twice", "offset"), "0 of 2 definitions fit"),
        (lambda source: source.with_symbol("Validate", "op"), "1 of 1 definitions fit"),
        (lambda source: source.with_branch("kTfLiteBuiltinMul"), "0 branches"),
        (lambda source: Source(source.repository, "y.cc", "Validate"), "no such file"),
        (lambda source: Source(Repository("example/y", "0" * 40), "x.cc", "Validate"), "no tree"),
    ],
)
def test_problems(tree, change, words):
    trees, validate = tree
    with pytest.raises(SourceProblem, match=words):
        list(measured(change(validate), ("ADD",), trees))


@pytest.fixture
def run(tree, tmp_path, monkeypatch, capsys):
    trees, validate = tree
    file = tmp_path / "source_lines.json"
    monkeypatch.setattr(sources, "FILE", file)

    def run(*arguments, named=(validate,)):
        monkeypatch.setattr(sources, "named_sources", lambda _: {source: ["ADD"] for source in named})
        tree = f"--tree=example/x={trees['example/x']}"
        monkeypatch.setattr(sys, "argv", ["sources", tree, *arguments])
        return sources.main(), capsys.readouterr().out, file

    return run


def test_lines_are_written_and_compared(run, tree, tmp_path):
    _, validate = tree
    expected = {f"example/x@{validate.repository.commit}": {"x.cc": {"Validate": (7, 117), "Validate, ADD": (9, 12)}}}
    (tmp_path / "source_lines.json").write_text("{}")
    code, out, _ = run()
    assert code == 1
    assert "run make sources" in out
    code, out, file = run("--write")
    assert code == 0
    assert file.read_text() == file_text(expected)
    assert run()[0] == 0


def test_nothing_is_written_with_a_problem(run, tree):
    _, validate = tree
    code, out, file = run("--write", named=(validate, validate.with_symbol("IsMissing")))
    assert code == 1
    assert "x.cc: IsMissing: no such definition (ADD)" in out
    assert not file.exists()


def test_an_unpacked_source_package_has_one_version_of_each_file(tmp_path):
    (tmp_path / "x.cc").write_text(UPSTREAM)
    validate = Source(Repository("example/x", "0" * 40), "x.cc", "Validate")
    assert dict(measured(validate, (), {"example/x": str(tmp_path)})) == {validate: (7, 117)}
    with pytest.raises(SourceProblem, match="no such file"):
        list(measured(Source(validate.repository, "y.cc", "Validate"), (), {"example/x": str(tmp_path)}))
