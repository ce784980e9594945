"""Limits on what is taken of a file, and the variable that raises them."""

from __future__ import annotations

import ast
import importlib
import io
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.bundles import litertlm, member, members
from delegate_sim.bundles.bundle_error import BundleError
from delegate_sim.conversion import supervisor
from delegate_sim.delegates import driver_profile
from delegate_sim.device.parse import log
from delegate_sim.errors import FixError, LimitError, ModelError, OptionError
from delegate_sim.foundation import files, limits, work_budget
from delegate_sim.foundation.limits import VARIABLE, raised
from delegate_sim.gate import baseline, configuration
from delegate_sim.gate import baseline_content as packing
from delegate_sim.gate.baseline_content import Baseline, BaselineError
from delegate_sim.gate.configuration import ConfigurationError
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, changed
from delegate_sim.hypothetical.type_conversion import as_int8
from delegate_sim.inference import difference, inputs
from delegate_sim.live import engine
from delegate_sim.model import flatbuffer, parsing
from delegate_sim.model.numbers import RepeatedNumber
from delegate_sim.prepare import kernel, preparation
from delegate_sim.results.compare.model_outline import outline
from fixtures.builder import ModelBuilder
from fixtures.bundles import litertlm_bytes, zip_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD"] * 40).bytes()
RAISES = f"; {VARIABLE}=10 raises every limit tenfold"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 7), ("1", 7), ("0", 7), ("10", 70), ("-3", 7), ("two", 7), ("\u0663", 7), ("9999999", 7_000_000), ("9" * 5000, 7)],
)
def test_limits_are_raised_by_a_number(monkeypatch, text, expected):
    monkeypatch.setenv(VARIABLE, text)
    assert raised(7) == expected


def read_text(folder):
    with open(folder / "text", "wb") as file:
        file.truncate(files.MOST_TEXT + 1)  # takes no space on the disk
    files.read_whole(str(folder / "text"))


def read_structure(folder):
    load(MODEL)


def list_models(folder):
    (folder / "a.zip").write_bytes(zip_bytes({"a": MODEL, "b": MODEL}))
    members.models_in(str(folder / "a.zip"))


def list_inner_models(folder):
    inner = zip_bytes({"m": MODEL, "filler": bytes(1 << 20)})
    (folder / "b.zip").write_bytes(zip_bytes({"inner.zip": inner}))
    members.models_in(str(folder / "b.zip"))


def decompress(folder):
    content = zip_bytes({"m": MODEL + bytes(2 << 20)}, zipfile.ZIP_DEFLATED)
    (folder / "c.zip").write_bytes(content)
    load(str(folder / "c.zip!/m"))


def read_rank(folder):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", "FLOAT32", [1] * 12))
    load(builder.bytes())


def say_names_often(folder):
    load(chain_model(["ADD"] * 20).bytes())


def name_custom_operators(folder):
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.node("", (), (), custom="x" * 30)
    load(builder.bytes())


def open_nested(folder):
    (folder / "d.zip").write_bytes(zip_bytes({"e.zip": zip_bytes({"m.tflite": MODEL})}))
    load(str(folder / "d.zip!/e.zip!/m.tflite"))


def read_nodes(folder):
    packing.read_ranges("0-49,0-49")


def read_outline(folder):
    packing.unpacked(packing.packed(outline(load(MODEL))))


def read_configuration(folder):
    (folder / "c.toml").write_bytes(b"#" * 100)
    configuration._parsed(str(folder / "c.toml"))


def read_targets(folder):
    (folder / "c.toml").write_text('[targets.a]\ndelegate = "gpu"\n[targets.b]\nkind = "micro"\n', "utf-8")
    configuration.read_configuration(str(folder / "c.toml"))


def read_baseline(folder):
    (folder / "b.json").write_text(baseline.baseline_text(Baseline()), "utf-8")
    baseline.read_baseline(str(folder / "b.json"))


def read_sections(folder):
    (folder / "m.litertlm").write_bytes(litertlm_bytes([(3, "a", MODEL), (3, "b", MODEL)]))
    members.models_in(str(folder / "m.litertlm"))


def read_profile(folder):
    log._message(io.BytesIO(bytes(100)))


def repeat_number(folder):
    RepeatedNumber("<f4", 0.5, 100).tolist()


def large_weights():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", "FLOAT32", [100, 1], data=[0.0] * 100)
    result = graph.tensor("y", "FLOAT32", [1, 100])
    graph.node("FULLY_CONNECTED", [graph.input("x", "FLOAT32", [1, 1]), weights], [result])
    graph.outputs(result)
    return builder


def make_up_scales(folder):
    as_int8(load(large_weights().bytes()), AnalysisCache())


def make_up_inputs(folder):
    model = load(MODEL)
    inputs.generated_inputs(model, model.subgraphs[0], 1, dict.fromkeys(model.subgraphs[0].inputs, (1001,)))


@pytest.mark.parametrize(
    ("action", "module", "name", "limit", "error"),
    [
        (read_text, files, "MOST_TEXT", files.MOST_TEXT, OSError),
        (read_structure, flatbuffer, "_GREATEST_STRUCTURE", 500, ModelError),
        (list_models, members, "_MOST_MODELS", 1, BundleError),
        (list_inner_models, members, "_MOST_UNPACKED", 1 << 20, BundleError),
        (decompress, member, "_ALWAYS", 1 << 20, ModelError),
        (repeat_number, limits, "_MOST_ELEMENTS", 99, LimitError),
        (make_up_scales, limits, "_MOST_ELEMENTS", 99, LimitError),
        (make_up_inputs, inputs, "_MOST_ELEMENTS", 1_000, OptionError),
        (decompress, member, "_GREATEST", 1 << 20, ModelError),
        (read_configuration, configuration, "_LARGEST_FILE", 99, ConfigurationError),
        (read_targets, configuration, "_MOST_TARGETS", 1, ConfigurationError),
        (read_baseline, baseline, "_LARGEST_FILE", 20, BaselineError),
        (read_sections, litertlm, "_MOST_SECTIONS", 1, BundleError),
        (read_rank, limits, "_MOST_DIMENSIONS", 2, ModelError),
        (say_names_often, parsing, "_MOST_SAID", 60, ModelError),
        (name_custom_operators, parsing, "_MOST_CUSTOM_NAMES", 20, ModelError),
        (open_nested, members, "_DEEPEST", 1, ModelError),
        (read_nodes, packing, "_MOST_NODES", 99, ValueError),
        (read_outline, packing, "_LARGEST", 1_000, ValueError),
        (read_profile, log, "_LARGEST_MESSAGE", 50, OSError),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_exceeds_a_limit_says_how_to_raise_it(monkeypatch, tmp_path, action, module, name, limit, error):
    monkeypatch.setattr(parsing, "_MOST_SAID_FOR_A_BYTE", 0)  # the higher one of the two counts
    monkeypatch.setattr(module, name, limit)
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(error, match=RAISES):
        action(tmp_path)
    monkeypatch.setenv(VARIABLE, "10")
    action(tmp_path)


def test_a_change_beyond_a_limit_names_the_model(monkeypatch, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(large_weights().bytes())
    monkeypatch.setattr(limits, "_MOST_ELEMENTS", 99)
    with pytest.raises(LimitError, match=re.escape(f"{path}: not simulated: 100 scales")):
        changed(load(path), HypotheticalChanges(conversion="int8"))


def test_a_drivers_profile(monkeypatch, tmp_path):
    (tmp_path / "profile.toml").write_bytes(b"#" * 100)
    monkeypatch.setattr(driver_profile, "_LARGEST_FILE", 99)
    with pytest.raises(ValueError, match="is too large for a profile"):
        driver_profile.read_entries(str(tmp_path / "profile.toml"), "profile", lambda entry: None)


def test_names_in_a_large_file(monkeypatch):
    monkeypatch.setattr(parsing, "_MOST_SAID", 0)
    say_names_often(None)
    monkeypatch.setattr(parsing, "_MOST_SAID_FOR_A_BYTE", 0)
    with pytest.raises(ModelError, match="repeat names too often"):
        say_names_often(None)


def test_elements_that_are_computed_at_once(monkeypatch):
    monkeypatch.setattr(kernel, "_MOST_COMPUTED_AT_ONCE", 10)
    assert [kernel.ComputedElements().take(count) for count in (10, 11)] == [True, False]


def test_models_that_run_too_long(monkeypatch, tmp_path):
    def run(folder, python):
        raise subprocess.TimeoutExpired("python", difference.SECONDS)

    monkeypatch.setattr(difference, "_own_process", run)
    with pytest.raises(FixError, match=f"within 1,800 seconds{RAISES}"):
        difference._run(tmp_path, {}, "")


@pytest.mark.parametrize(
    ("soft", "hard", "limit"), [(-1, -1, 1000), (5000, 9000, 1000), (600, 700, 600), (600, -1, 600), (1000, 1000, 1000)]
)
def test_the_memory_of_a_real_delegate(monkeypatch, soft, hard, limit):
    resource = pytest.importorskip("resource")
    given = []
    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limit: given.append((which, limit)))
    monkeypatch.setattr(engine, "MEMORY", 1000)
    engine._limit_memory()
    monkeypatch.setattr(supervisor, "_control_process", lambda *_: None)
    supervisor._limited(1000)
    expected = [(resource.RLIMIT_AS, limit), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, limit)]
    assert given == [(which, (most, most)) for which, most in expected]


def test_a_process_that_is_stopped_for_its_time():
    assert engine.Finished(None, "").words.endswith(f" 120 seconds{RAISES}")


DOCUMENTED = re.findall(r"\| ([\d,]+) \| `([\w.]+)\.(\w+)` \|", (Path(__file__).parents[2] / "SECURITY.md").read_text("utf-8"))


@pytest.mark.parametrize(("value", "module", "name"), DOCUMENTED, ids=lambda value: value)
def test_documented_limits(value, module, name):
    assert f"{getattr(importlib.import_module(f'delegate_sim.{module}'), name):,}" == value


def limits_of(call):
    """Return the constants of a call that applies a limit. Of the larger or smaller of two limits, the first."""
    constants = [node.id for node in ast.walk(call) if isinstance(node, ast.Name) and node.id.strip("_").isupper()]
    return constants[:1]


def test_every_limit_is_documented():
    source = Path(files.__file__).parents[1]
    found = {
        (".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"), name)
        for path in source.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("raised", "read_whole")
        for name in limits_of(call)
    }
    assert found - {(module, name) for _, module, name in DOCUMENTED} == set()
    assert len(found) >= 14


def test_every_limit_names_the_test_that_holds_it():
    text, tests = (Path(__file__).parents[2] / "SECURITY.md").read_text("utf-8"), Path(__file__).parents[1]
    held = re.findall(r"`[\w.]+\.(\w+)` \| `tests/([\w/.]+)::(\w+)` \|", text)
    assert len(held) == len(DOCUMENTED)
    for limit, path, test in held:
        source = (tests / path).read_text("utf-8")
        assert f"def {test}(" in source, f"{path} has no {test}"
        assert re.search(rf"\b{limit}\b", source), f"{path} does not name {limit}"


def test_calls_of_subgraphs(monkeypatch):
    monkeypatch.setattr(preparation, "_MOST_CALLS", 0)
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    condition, source = graph.input("c", "BOOL", [1]), graph.input("x", "FLOAT32", [1])
    result = graph.tensor("y", "FLOAT32", [1])
    graph.node("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 1})
    graph.outputs(result)
    body = builder.subgraph("body")
    source, result = body.input("x", "FLOAT32", [1]), body.tensor("y", "FLOAT32", [1])
    body.node("ABS", [source], [result])
    body.outputs(result)
    assert preparation.prepare(load(builder.bytes()))[0].failure.message.endswith(f"too often{RAISES}")


def test_calls_of_subgraphs_with_operands_of_other_shapes_share_the_budget_of_work(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1000)
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    condition = graph.input("c", "BOOL", [1])
    for size in range(1, 20):
        source, result = graph.input("x", "FLOAT32", [size]), graph.tensor("y", "FLOAT32", [size])
        graph.node("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 1})
        graph.outputs(result)
    body = builder.subgraph("body")
    tensor = body.input("x", "FLOAT32", [1])
    for _ in range(10):
        result = body.tensor("y", "FLOAT32", [1])
        body.node("ABS", [tensor], [result])
        tensor = result
    body.outputs(tensor)
    model = load(builder.bytes())
    assert preparation.prepare(model)[0].failure is None
    words = "preparing subgraphs again for each node that calls them takes more than the limit of 1,000 steps"
    with work_budget.work_budget(), pytest.raises(LimitError, match=words):
        preparation.prepare(model)
