"""Ordinary models are judged without importing numpy, whose import takes longer than all the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES

_MODELS = Path(__file__).parents[2] / "fixtures" / "models"
_ANALYZE = """
import sys
from delegate_sim_cli import main
model, *delegates = sys.argv[1:]
for delegate in delegates:
    sys.argv = ["delegate-sim", "analyze", model, "--delegate", delegate]
    try:
        main.main()
    except SystemExit:
        pass
    assert "numpy" not in sys.modules, delegate
"""
_IMPORT = """
import os, sys
from delegate_sim.foundation.late_numpy import np, without_threads
without_threads()
np.zeros(1)
print(os.environ.get("OPENBLAS_NUM_THREADS"), len(os.listdir("/proc/self/task")))
"""


@pytest.mark.parametrize("model", ["mobilenet_block", "quantized_block"])
def test_analyze_does_not_import_numpy(model):
    arguments = [str(_MODELS / f"{model}.tflite"), *DELEGATE_NAMES]
    ended = subprocess.run([sys.executable, "-c", _ANALYZE, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("Replacing") >= len(DELEGATE_NAMES) // 2


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
@pytest.mark.parametrize("given", [None, "1"])
def test_numpy_starts_no_threads_and_leaves_the_environment_as_it_was(given):
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    found = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, env=environment).stdout
    assert found.split() == [str(given), "1"]
