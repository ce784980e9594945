"""The second stage: what a vendor's compiler answers about selected nodes. A stand-in for LiteRT's tool answers."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.live.comparison import run_and_compare
from delegate_sim.live.engine import LiveCompilation
from tests.support.delegates.npu_models import chain, compiled
from tests.support.live.plugin_tool import find_engine, stand_in

COMPILED = compiled("IntelOpenVINO", "LNL").bytes()
ERRORS = (
    "ERROR: [openvino_compiler_plugin.cc:714] Exception in compilation: Exception from src/inference/src/cpp/core.cpp:117:",
    "Exception from src/inference/src/dev/plugin.cpp:54:",
    'Cannot load library "libloader.so": no such file',
    "     0.0ms [ ERROR ]   <E> no memory",
    "ERROR: [apply_plugin.cc:455] ERROR: [litert/compiler/plugin/compiler_plugin.cc:504]",
)
MESSAGES = ("Exception in compilation", 'Cannot load library "libloader.so": no such file', "<E> no memory")


@pytest.fixture
def make(tmp_path, monkeypatch):
    return stand_in(tmp_path, monkeypatch)


def answer(make, applied, **given):
    """The answer of the compiler, if the tool runs this code for the task ``apply``."""
    make(end=f"if '--cmd=apply' in sys.argv:\n    {applied}\nsys.exit(0)", **given)
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    engine = find_engine("npu-intel")
    target = delegate_sim.analyze(model, "npu-intel", defaults="api").runs[0].target
    _, result = run_and_compare(engine, model, target, target.release)
    return result.compilation


@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        pytest.param(f"open(out, 'wb').write({COMPILED!r})", LiveCompilation(True, 1, 1234, ()), id="compiled"),
        pytest.param("pass", LiveCompilation(False, 0, 0, ()), id="nothing is compiled"),
        pytest.param(
            f"print({chr(10).join(ERRORS)!r}); sys.exit(248)",
            LiveCompilation(False, 0, 0, (*MESSAGES, "it failed with status 248")),
            id="the compiler fails",
        ),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGSEGV)",
            LiveCompilation(False, 0, 0, ("it crashed (SIGSEGV)",)),
            id="the compiler crashes",
        ),
    ],
)
def test_answers_of_a_compiler(make, applied, expected):
    assert answer(make, applied) == expected
