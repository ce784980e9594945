"""Commands that once took gigabytes and minutes, or failed, as processes with the limits that SECURITY.md promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from delegate_sim.scan.output import causes_path, format_for
from delegate_sim.scan.schema import CAUSES, FILLED, RUNS, names
from tests.support.models import chain_model

resource = pytest.importorskip("resource", reason="the system has no limits on memory and time")

_ADDRESS_SPACE = 3 << 29
"""Bytes. A third is address space of numpy and of threads, which takes no memory."""
_CPU_SECONDS = 10


def _limit():
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))


@pytest.mark.parametrize(
    ("stem", "delegate"), [("scales_of_a_huge_dimension", "xnnpack"), ("zero_points_beyond_channels", "mldrift")]
)
def test_a_diagnosis_ends_within_the_limits(stem, delegate):
    command = ["diagnose", str(Path(__file__).with_name(f"{stem}.tflite")), "--delegate", delegate]
    result = subprocess.run(
        [sys.executable, "-m", "delegate_sim", *command], preexec_fn=_limit, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "With all causes fixed" in result.stdout
    assert "more memory than" not in result.stdout


@pytest.mark.slow
def test_a_table_of_millions_of_equal_rows_is_refused_quickly(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path = str(tmp_path / "zoo.parquet")
    row = tuple(["e" if name in (*FILLED[RUNS], "error") else None for name in names(RUNS)])
    format_for(path).write(path, {RUNS: [row], CAUSES: []})
    table = parquet.read_table(path)
    parquet.write_table(table.take(pyarrow.repeat(0, 5_000_000)), path)
    (tmp_path / "model.tflite").write_bytes(chain_model(["ADD"]).bytes())
    result = subprocess.run(
        [sys.executable, "-m", "delegate_sim", "scan", "model.tflite", "--delegate", "gpu", "--processes", "1", "-o", path],
        cwd=tmp_path,
        preexec_fn=_limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {path}: its rows are larger than the limit of 512 MiB")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "model.tflite", Path(path), Path(causes_path(path))])
