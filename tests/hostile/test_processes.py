"""Commands that once took gigabytes and minutes, or failed, as processes with the limits that SECURITY.md promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
