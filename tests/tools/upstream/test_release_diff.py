"""The comparison of two upstream commits, on a repository made for the test."""

from __future__ import annotations

import subprocess

import pytest

from tools.upstream.release_diff import Followed, Tree, compare, followed_functions, lines

_ALIKE = "".join(f"int Helper{number}(int x) {{ return x * {number}; }}\n" for number in range(30))
"""Code that lets git see that a file was renamed."""

OLD = {
    "a/rules.cc": _ALIKE
    + """
bool CheckAdd(int version) { // old comment
  return version <= 2;
}
bool CheckSub(int version) { return version == 1; }
int Moves(int x) { return x + 1; }
int Goes() { return 1; }
Status Apply() { switch (op) { case kTfLiteBuiltinAdd: return CheckAdd(1); } TFLITE_LOG(INFO, "old line %d", 1); }
""",
    "tflite/core/kernels/register.cc": """
void R() { AddBuiltin(BuiltinOperator_ADD, Register_ADD(), /* min */ 1, /* max */ 5);
  AddBuiltin(BuiltinOperator_ABS, Register_ABS()); }
""",
    "tflite/schema/schema.fbs": "enum TensorType : byte { FLOAT32 = 0, INT8 = 9 }\n",
}
NEW = {
    "a/renamed.cc": _ALIKE
    + """
bool CheckAdd(int version) { // new comment
  return version <= 3;
}
bool CheckSub(int version) {
  // a comment
  return version == 1;
}
Status Apply() { switch (op) { case kTfLiteBuiltinAdd: case kTfLiteBuiltinMul: return CheckAdd(1); }
  TFLITE_LOG(INFO, "new line %d", 1); }
bool CheckMul(int version) { return true; }
""",
    "b/other.cc": "int Moves(int x) { return x + 1; }\n",
    "tflite/core/kernels/register.cc": """
void R() { AddBuiltin(BuiltinOperator_ADD, Register_ADD(), /* min */ 1, /* max */ 6);
  AddBuiltin(BuiltinOperator_ABS, Register_ABS()); }
""",
    "tflite/schema/schema.fbs": "enum TensorType : byte { FLOAT32 = 0, INT8 = 9, INT2 = 19 }\n",
}


@pytest.fixture
def trees(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "--quiet")
    for tag, files in (("old", OLD), ("new", NEW)):
        for path in OLD:
            (tmp_path / path).unlink(missing_ok=True)
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
        git("add", "--all")
        git("commit", "--quiet", "--message", tag)
        git("tag", tag)
    return Tree(str(tmp_path), "old"), Tree(str(tmp_path), "new")


def test_what_changed(trees):
    old, new = trees
    names = ("CheckAdd", "CheckSub", "Moves", "Goes", "Apply", "CheckMul", "Unknown")
    report = compare(old, new, [Followed("a/rules.cc", name, rests=(name.upper(),)) for name in names])
    assert report.unchanged == 1
    assert [one.symbol for one, _ in report.changed] == ["CheckAdd", "Apply"]
    assert "-return version <= 2;\n+return version <= 3;" in report.changed[0][1]
    assert [(one.symbol, place) for one, place in report.moved] == [("Moves", "b/other.cc")]
    assert [one.symbol for one in report.gone] == ["Goes"]
    assert [one.symbol for one in report.not_found] == ["CheckMul", "Unknown"]
    assert report.new == ["a/renamed.cc: operators Mul", "a/renamed.cc: definitions CheckMul"]
    assert report.data == [
        "tflite/core/kernels/register.cc (runtime/resolver.py): resolver ADD: 1 to 5 -> 1 to 6",
        "tflite/schema/schema.fbs (model/tflite_schema.json): enum TensorType INT2: absent -> 19",
        "a/renamed.cc: log line gone: old line %d",
        "a/renamed.cc: log line new: new line %d",
    ]
    text = "\n".join(lines("owner/name", old, new, report, shows_differences=True))
    assert "10 entries to read; 1 followed functions are unchanged." in text
    assert "- `a/rules.cc`: `CheckAdd`: CHECKADD" in text


def test_rules_and_docstrings_are_followed():
    followed = followed_functions()
    litert = {(one.file, one.symbol): one.rests for one in followed["google-ai-edge/LiteRT"]}
    assert "CONV_2D" in litert["tflite/delegates/xnnpack/xnnpack_delegate.cc", "Subgraph::VisitConv2DNode"]
    assert litert["kernels/conv.cc", "Prepare"] == ("prepare/kernels/convolution.py",)
    assert {"VeriSilicon/tflite-vx-delegate", "nxp-imx/tflite-ethosu-delegate-imx"} <= followed.keys()
