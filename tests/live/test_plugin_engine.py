"""Real plugins, where what they need is installed: their decisions about generated models are the simulation's.

Partitioning only loads the libraries of some vendors and asks nothing of them: libraries that do nothing stand in for them here.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import subprocess

import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_live
from delegate_sim.foundation import packages
from delegate_sim.live.comparison import compare_live, run_live
from delegate_sim.live.live_runs import find_engine
from tests.support.delegates.npu_models import chain, with_composites

_OPS = ("RELU", "TANH", "NEG", "ABS", "ELU", "CEIL", "EXP", "RELU6", "SQRT", "ADD")
_NAMES = ("odml.rms_norm", "odml.npu_call", "odml.cpu_call", "other")
_MODELS = int(os.environ.get("DELEGATE_SIM_LIVE_EXAMPLES", "30"))

_NOTHING = "int {name}(void) {{ return 0; }}"
_OLD_NEURON = "int Neuron_getVersion(unsigned char *version) { version[0] = 8; version[1] = 2; version[2] = 0; return 0; }"
"""Older than the version from which on the plugin asks the vendor's compiler."""
_MISSING_SYMBOL = "char _ZN11flatbuffers13ClassicLocale9instance_E[64];"
"""The symbol that the plugin of Samsung in ai-edge-litert 2.3.0 lacks to be loaded."""


def _models():
    source = random.Random(1)
    for number in range(_MODELS):
        ops = source.choices(_OPS, k=source.randint(1, 12))
        if number % 2:
            yield chain(ops, source.choice(("FLOAT32", "INT32")))
        else:
            parts = [op for op in ops if op != "ADD"] or ["RELU"]
            parts.insert(source.randint(0, len(parts)), (source.choice(_NAMES), 1, b""))
            yield with_composites(parts, [source.choices(_OPS[:-1], k=source.randint(1, 4))])


def _library(folder, name, *lines):
    """Compile a shared library of these lines of C."""
    (folder / f"{name}.c").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", folder / name, folder / f"{name}.c"], check=True)
    return folder / name


def _symbols_in(folder, pattern):
    """The names of a vendor's functions that a plugin looks for."""
    root = packages.package_folder(packages.RUNTIME)
    (plugin,) = (root / "vendors" / folder / "compiler").glob("*.so")
    return sorted({name.decode() for name in re.findall(pattern, plugin.read_bytes())})


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Make libraries that do nothing for those of vendors that partitioning only loads."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to make libraries that stand in for those of vendors")
    if packages.package_folder(packages.RUNTIME) is None:
        pytest.skip("ai-edge-litert is not installed")

    def functions(names):
        return [_NOTHING.format(name=name) for name in names]

    def make(name):
        if name == "npu-google":
            found = _symbols_in("google_tensor", rb"GoogleTensor(?:Compile|Free|Get)\w+")
            _library(tmp_path, "liblitert_plugin_compiler.so", *functions(found))
        elif name == "npu-mediatek":
            found = [each for each in _symbols_in("mediatek", rb"Neuron[A-Z]?[A-Za-z]*_[a-z]\w+") if each != "Neuron_getVersion"]
            _library(tmp_path, "libneuron_adapter.so", _OLD_NEURON, *functions(found))
        elif name == "npu-samsung":
            monkeypatch.setenv("LD_PRELOAD", str(_library(tmp_path, "libmissing.so", _MISSING_SYMBOL)))
        elif name == "npu-qualcomm":
            _library(tmp_path, "libQnnLpai.so", "")
        monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join([str(tmp_path), os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(":"))

    return make


def _engine(name):
    engine = find_engine(find_live(name))
    if not engine.is_ready:
        pytest.skip(f"{name} cannot be run here: it lacks {engine.lacks}")
    return engine


@pytest.mark.parametrize("name", ["npu-google", "npu-intel", "npu-mediatek", "npu-samsung"])
@pytest.mark.parametrize(
    ("options", "models"),
    [({}, _MODELS), ({"partition_strategy": "weakly_connected"}, _MODELS // 4)],
    ids=["default", "weakly connected"],
)
def test_the_real_plugin_decides_as_simulated(stand_ins, name, options, models):
    engine = _engine(name)
    stand_ins(name)
    for number, builder in enumerate(itertools.islice(_models(), models)):
        model = delegate_sim.load(builder.bytes())
        found = compare_live(engine, model, delegate_sim.analyze(model, name, options, defaults="api").runs[0])
        if not found.is_run:
            pytest.skip(f"{name} needs {found.decision.lacks}")
        assert found.is_compared, number
        assert found.is_equal, (number, found.differences)


def test_a_plugin_whose_code_is_closed_is_run(stand_ins):
    """Only one library stands in, which the plugin is linked to and does not use; the vendor's own decide."""
    engine = _engine("npu-qualcomm")
    if packages.package_folder("onnxruntime_qnn") is None:
        pytest.skip("onnxruntime-qnn, which has the vendor's libraries, is not installed")
    stand_ins("npu-qualcomm")
    options = parse_options("npu-qualcomm", engine.delegate.options, {})
    selected = 0
    for number, builder in enumerate(_models()):
        model = delegate_sim.load(builder.bytes())
        found = run_live(engine, model, options)
        if not found.is_run:
            pytest.skip(f"npu-qualcomm needs {found.decision.lacks}")
        assert not found.is_compared
        if not found.decision.end:
            counts = [int(match[1]) for match in map(re.compile(r"selected (\d+) ops").search, found.decision.lines) if match]
            assert len(counts) >= 1, number
            selected += sum(counts)
    assert selected


def test_op_filters_reach_the_real_plugin(stand_ins):
    engine = _engine("npu-google")
    stand_ins("npu-google")
    model = delegate_sim.load(chain(["RELU", "TANH", "ABS"]).bytes())
    filters = 'filters { op_name_pattern: "t1" }'
    found = compare_live(
        engine, model, delegate_sim.analyze(model, "npu-google", {"op_filters": filters}, defaults="api").runs[0]
    )
    if not found.is_run:
        pytest.skip(f"npu-google needs {found.decision.lacks}")
    assert found.is_equal, found.differences
    assert [[node.place for node in each] for each in found.decision.partitions] == [[(0, 0)], [(0, 2)]]
