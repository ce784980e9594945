"""The configuration of a repository that uses the ready parts, and pre-commit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CONFIGURATION = """\
models = ["models/*.tflite"]

[targets.pixel]
delegate = "nnapi"
options = { feature_level = 31 }
"""


def pre_commit(folder, environment, *arguments):
    """Run pre-commit in a folder."""
    command = [sys.executable, "-m", "pre_commit", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
