from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim.gate.baseline import (
    Baseline,
    BaselineError,
    EntryKey,
    baseline_text,
    read_baseline,
    update_baseline,
)
from delegate_sim.gate.baseline_content import packed
from delegate_sim.results.compare.model_outline import Constant, NodeOutline, Output, SubgraphOutline
from tests.support.baseline_entries import OUTLINE, entry
from tests.support.models import chain_model

TEXT = """\
{"schema": "delegate-sim/baseline/2", "entries": [
{"model": "a.tflite", "target": "pixel", "outcome": "delegated", "nodes": 3, "delegated_nodes": 2, "partitions": 1, \
"delegate_kernels": 1, "border_bytes": 64, "fallback": [[0, "nnapi-operator", "2"]], "delegate": "nnapi", \
"options": {"feature_level": 31}, "runtime": "litert-2.3", "defaults": "api", "rule_set": "0123", "tool": "0.1.0", \
"sha256": "ab"}
], "models": [
["ab", "OUTLINE"]
]}
"""

FIRST_TEXT = """\
{
  "schema": "delegate-sim/baseline/1",
  "entries": [
    {
      "model": "a.tflite",
      "target": "pixel",
      "sha256": "ab",
      "delegate": "nnapi",
      "options": {"feature_level": 31},
      "runtime": "litert-2.3",
      "defaults": "api",
      "rule_set": "0123",
      "tool": "0.1.0",
      "outcome": "delegated",
      "nodes": 3,
      "delegated_nodes": 2,
      "partitions": 1,
      "delegate_kernels": 1,
      "border_bytes": 64,
      "fallback": [
        {"subgraph": 0, "code": "nnapi-operator", "nodes": [2]}
      ]
    }
  ],
  "models": {
    "ab": [
      {
        "name": "main",
        "inputs": [["x", "FLOAT32[1,?]"]],
        "nodes": [
          {"op": "ADD", "version": 2, "in": ["x", {"constant": "FLOAT32[4]"}, null], "out": [["y", "FLOAT32[1,4]"]]}
        ]
      }
    ]
  }
}
"""


def test_the_text(tmp_path):
    baseline = Baseline({EntryKey("a.tflite", "pixel"): entry()})
    text = TEXT.replace("OUTLINE", packed(OUTLINE))
    assert baseline_text(baseline) == text
    path = tmp_path / "baseline.json"
    path.write_text(text, encoding="utf-8")
    assert read_baseline(str(path)).entries == baseline.entries


def test_the_first_schema_is_still_read_and_replaced_by_an_update(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(FIRST_TEXT, encoding="utf-8")
    baseline = read_baseline(str(path))
    assert baseline == Baseline({EntryKey("a.tflite", "pixel"): entry()})
    assert update_baseline(str(path), baseline.entries)
    assert path.read_text(encoding="utf-8") == TEXT.replace("OUTLINE", packed(OUTLINE))


def test_an_outline_is_kept_as_it_was_packed(tmp_path):
    path = tmp_path / "baseline.json"
    content = base64.b64encode(zlib.compress(zlib.decompress(base64.b64decode(packed(OUTLINE))), 0)).decode()
    path.write_text(TEXT.replace("OUTLINE", content), encoding="utf-8")
    assert not update_baseline(str(path), {EntryKey("a.tflite", "pixel"): entry()})
    assert update_baseline(str(path), {EntryKey("b.tflite", "pixel"): entry()})
    assert content in path.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")
def test_changes_to_different_models_merge(tmp_path):
    added = {EntryKey("e", "t"): entry("e")}
    texts = {
        "base": {EntryKey(name, "t"): entry(name) for name in "abcd"},
        "ours": {EntryKey(name, "t"): entry("new" if name == "b" else name, partitions=1 + (name == "b")) for name in "abcd"},
        "theirs": {EntryKey(name, "t"): entry("other" if name == "c" else name) for name in "abcd"} | added,
    }
    for name, entries in texts.items():
        (tmp_path / name).write_text(baseline_text(Baseline(entries)), encoding="utf-8")
    command = ["git", "merge-file", "ours", "base", "theirs"]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    merged = read_baseline(str(tmp_path / "ours"))
    assert {key.model: value.sha256 for key, value in merged.entries.items()} == {
        "a": "a",
        "b": "new",
        "c": "other",
        "d": "d",
        "e": "e",
    }


def test_entries_stand_in_order_however_they_came(tmp_path):
    path = str(tmp_path / "baseline.json")
    keys = [EntryKey("b", "y"), EntryKey("a", "z"), EntryKey("b", "x")]
    for key in keys:
        assert update_baseline(path, {key: entry()})
    assert list(read_baseline(str(path)).entries) == sorted(keys)
    other = str(tmp_path / "other.json")
    update_baseline(other, {key: entry() for key in reversed(keys)})
    assert Path(path).read_bytes() == Path(other).read_bytes()


def test_an_update_leaves_other_entries_alone(tmp_path):
    path = str(tmp_path / "baseline.json")
    update_baseline(path, {EntryKey("a", "t"): entry(), EntryKey("b", "t"): entry("cd"), EntryKey("c", "t"): entry()})
    assert update_baseline(path, {EntryKey("b", "t"): entry("ef", partitions=2)}, removed=[EntryKey("c", "t")])
    assert read_baseline(str(path)).entries == {EntryKey("a", "t"): entry(), EntryKey("b", "t"): entry("ef", partitions=2)}
    assert '"cd"' not in Path(path).read_text(encoding="utf-8")


def test_nothing_is_written_where_nothing_changed(tmp_path):
    path = tmp_path / "baseline.json"
    assert update_baseline(str(path), {EntryKey("a", "t"): entry()})
    before = path.stat()
    assert not update_baseline(str(path), {EntryKey("a", "t"): entry()})
    assert path.stat().st_mtime_ns == before.st_mtime_ns


names = st.text(max_size=8)


outlines = st.builds(
    SubgraphOutline,
    names,
    st.tuples(st.builds(Output, names, names)),
    st.lists(
        st.builds(
            NodeOutline,
            names,
            st.integers(1, 9),
            st.lists(st.one_of(names, st.builds(Constant, names), st.none()), max_size=3).map(tuple),
            st.lists(st.builds(Output, names, names), max_size=2).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
)


@given(st.dictionaries(st.builds(EntryKey, names, names), outlines.map(lambda outline: (outline,)), max_size=4))
def test_what_is_written_is_read_back(tmp_path_factory, found):
    entries = {key: entry(str(number), outline=outline) for number, (key, outline) in enumerate(found.items())}
    path = tmp_path_factory.mktemp("baseline") / "baseline.json"
    path.write_text(baseline_text(Baseline(entries)), encoding="utf-8")
    read = read_baseline(str(path)).entries
    assert read == entries
    assert {key: entry.subgraphs for key, entry in read.items()} == {key: entry.outline for key, entry in entries.items()}


def without(*keys):
    content = json.loads(FIRST_TEXT)
    *folders, last = keys
    place = content
    for key in folders:
        place = place[key]
    del place[last]
    return json.dumps(content)


def with_value(value, *keys):
    content = json.loads(FIRST_TEXT)
    *folders, last = keys
    place = content
    for key in folders:
        place = place[key]
    place[last] = value
    return json.dumps(content)


WHOLE = TEXT.replace("OUTLINE", packed(OUTLINE))
NODE = ("models", "ab", 0, "nodes", 0)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is not JSON: line 1: "),
        (TEXT.replace('"entries"', '<< HEAD\n"entries"'), "is not JSON: line 1: "),
        (
            TEXT.replace("]\n]}", "]\n<<<<<<< HEAD\n]}"),
            "contains merge conflict markers (line 5): choose one side with git checkout --theirs -- ",
        ),
        (TEXT.replace('["ab", "OUTLINE"]', '["ab"]'), "is not a baseline: models[0] must be a pair of a digest and an outline"),
        (
            TEXT.replace("OUTLINE", packed(OUTLINE)).replace('"2"]', '"2-1"]'),
            "is not a baseline: entries[0].fallback[0]: there is a text that is not a range of nodes",
        ),
        (
            TEXT.replace("OUTLINE", packed(OUTLINE)).replace('[0, "nn', '["0", "nn'),
            "is not a baseline: entries[0].fallback[0] must have",
        ),
        ("[" * 100_000, "is not JSON: nested too deeply"),
        ("9" * 5_000, "is not JSON: a number has too many digits"),
        (WHOLE.replace('"2"]', '"2", "3"]'), "is not a baseline: entries[0].fallback[0] must have a subgraph, a code and nodes"),
        (f"\n\n<<<<<<< HEAD\n{WHOLE}", "contains merge conflict markers (line 3): "),
        ("[]", "is not a baseline: it has another schema, but this delegate-sim reads 'delegate-sim/baseline/2' and"),
        (with_value("delegate-sim/baseline/9", "schema"), "is not a baseline: it has another schema"),
        (without("models"), "is not a baseline: 'models' of the file must be an object"),
        (without("entries"), "is not a baseline: 'entries' of the file must be"),
        (with_value(["x"], "entries"), "is not a baseline: entries[0]"),
        (without("entries", 0, "partitions"), "is not a baseline: 'partitions' of entries[0] must be a number"),
        (with_value(-1, "entries", 0, "partitions"), "is not a baseline: entries[0].partitions is below 0"),
        (with_value(True, "entries", 0, "nodes"), "is not a baseline: 'nodes' of entries[0] must be a number"),
        (
            with_value("zz", "entries", 0, "sha256"),
            "is not a baseline: entries[0].sha256 is the digest of a model that is missing from models",
        ),
        (with_value("odd", "entries", 0, "outcome"), "is not a baseline: entries[0].outcome has an unknown value"),
        (
            with_value(["2"], "entries", 0, "fallback", 0, "nodes"),
            "is not a baseline: entries[0].fallback[0].nodes must all be numbers",
        ),
        (with_value([1], "entries", 0, "fallback"), "is not a baseline: 'nodes' of entries[0].fallback[0] must be an array"),
        (with_value(3, "models", "ab"), "is not a baseline: models[0] must be an array"),
        (with_value([3], "models", "ab"), "is not a baseline: 'nodes' of a subgraph must be an array"),
        (with_value(3, *NODE, "op"), "is not a baseline: 'op' of a node must be a string"),
        (with_value([3], *NODE, "in"), "is not a baseline: 'constant' of an operand must be a string"),
        (with_value([["y"]], *NODE, "out"), "is not a baseline: tensors must be pairs of a name and a type"),
    ],
)
def test_files_that_are_no_baselines(tmp_path, text, fault):
    path = tmp_path / "baseline.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BaselineError) as caught:
        read_baseline(str(path))
    assert str(caught.value).startswith(f"{path}: {fault}")
    with pytest.raises(BaselineError, match=re.escape(fault)):
        update_baseline(str(path), {EntryKey("a", "t"): entry()})
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("outline", ["OUTLINE", f"*{packed(OUTLINE)}"])
def test_an_outline_is_read_when_it_is_needed(tmp_path, outline):
    path = tmp_path / "baseline.json"
    path.write_text(TEXT.replace("OUTLINE", outline), encoding="utf-8")
    (found,) = read_baseline(str(path)).entries.values()
    with pytest.raises(BaselineError) as caught:
        found.subgraphs  # noqa: B018
    assert str(caught.value).startswith(f"{path}: is not a baseline: the outline models[0] cannot be read: ")


def test_a_file_is_ascii_whatever_the_names_are():
    """So that it is read alike whatever encoding a tool in between takes it for."""
    outline = (SubgraphOutline("größe", (Output("入力", "FLOAT32[1]"),), ()),)
    text = baseline_text(Baseline({EntryKey("é.tflite", "ñ"): entry(outline=outline)}))
    assert text.isascii()


def test_two_entries_of_one_key(tmp_path):
    content = json.loads(FIRST_TEXT)
    content["entries"] *= 2
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BaselineError, match=r"entries\[1\] has the model and the target of an earlier entry: remove"):
        read_baseline(str(path))


def test_files_that_cannot_be_read_or_written(tmp_path):
    path = tmp_path / "baseline.json"
    assert read_baseline(str(path)) == Baseline()
    path.write_bytes(b"\xff")
    with pytest.raises(BaselineError, match="is not UTF-8 text"):
        read_baseline(str(path))
    with pytest.raises(BaselineError, match="Is a directory"):
        read_baseline(str(tmp_path))
    missing = tmp_path / "none" / "baseline.json"
    with pytest.raises(BaselineError) as caught:
        update_baseline(str(missing), {})
    assert str(caught.value) == f"{missing}: No such file or directory"


WRITER = """
import sys
from delegate_sim.gate.baseline import EntryKey, update_baseline
from tests.support.baseline_entries import entry
path, name = sys.argv[1:]
for number in range(20):
    update_baseline(path, {EntryKey(f"{name}{number:02}", "t"): entry(f"{name}{number}")})
"""


def start(*command, **arguments):
    return subprocess.Popen([sys.executable, "-c", *command], stdin=subprocess.DEVNULL, **arguments)


def test_processes_that_update_at_once_lose_nothing(tmp_path):
    path = tmp_path / "baseline.json"
    writers = [start(WRITER, str(path), name) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(read_baseline(str(path)).entries) == 60
    assert [file.name for file in tmp_path.iterdir()] == ["baseline.json"]


STUCK = """
import os, sys
from delegate_sim.gate.baseline import EntryKey, update_baseline
from tests.support.baseline_entries import entry

def stop(*_):
    print("stuck", flush=True)
    sys.stdin.read()

os.replace = stop
update_baseline(sys.argv[1], {EntryKey("new", "t"): entry()})
"""


def test_a_kill_in_the_middle_of_an_update_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "baseline.json"
    update_baseline(str(path), {EntryKey("old", "t"): entry()})
    before = path.read_bytes()
    stuck = subprocess.Popen([sys.executable, "-c", STUCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert stuck.stdout.readline() == b"stuck\n"
    stuck.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    stuck.communicate()
    assert path.read_bytes() == before
    assert len(os.listdir(tmp_path)) == 2, "the new text was complete beside the old file"
    update_baseline(str(path), {EntryKey("new", "t"): entry()})
    assert set(read_baseline(str(path)).entries) == {EntryKey("old", "t"), EntryKey("new", "t")}
    assert os.listdir(tmp_path) == ["baseline.json"], "what the killed process left is gone"


def test_a_node_takes_a_few_bytes(tmp_path):
    """Whatever the models are made of: a committed file should stay one that git and reviewers can bear."""
    builder = chain_model(["ADD", "ROUND"] * 500)
    builder.write(tmp_path / "long.tflite")
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.t]\ndelegate = "nnapi"\n', encoding="utf-8")
    delegate_sim.check(tmp_path / "delegate-sim.toml", update=True)
    assert (tmp_path / "delegate-sim-baseline.json").stat().st_size < 20 * 1000


@pytest.mark.parametrize(
    ("old", "nodes", "new"),
    [
        ("not-loaded", 0, "refused, not loaded"),
        ("not-prepared", 0, "refused, not prepared"),
        ("not-prepared", 2, "delegated, then fails"),
    ],
)
def test_older_names_of_outcomes_are_read(tmp_path, old, nodes, new):
    path = tmp_path / "baseline.json"
    text = baseline_text(Baseline({EntryKey("a.tflite", "pixel"): entry()}))
    text = text.replace('"outcome": "delegated"', f'"outcome": "{old}"').replace(
        '"delegated_nodes": 2', f'"delegated_nodes": {nodes}'
    )
    path.write_text(text, encoding="utf-8")
    (found,) = read_baseline(str(path)).entries.values()
    assert found.measures.outcome == new
