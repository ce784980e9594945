"""Scans of small models, and their rows."""

from __future__ import annotations

from pathlib import Path

from delegate_sim.releases.catalogue import DEFAULT_RELEASE
from delegate_sim.scan.job import TargetSpec
from delegate_sim.scan.output import read_tables
from delegate_sim.scan.scan import Workers, scan
from delegate_sim.scan.schema import names
from tests.support.models import chain_model

NNAPI = TargetSpec("nnapi", (), DEFAULT_RELEASE, "benchmark", False)
GPU = TargetSpec("gpu", (), DEFAULT_RELEASE, "benchmark", False)


def write_zoo():
    """Write three models into a folder, one of them damaged; return their paths."""
    Path("zoo").mkdir()
    Path("zoo/a.tflite").write_bytes(chain_model(["ADD", "ROUND", "ADD"]).bytes())
    Path("zoo/b.tflite").write_bytes(chain_model(["ADD"]).bytes())
    Path("zoo/c.tflite").write_bytes(b"not a model at all")
    return ["zoo/a.tflite", "zoo/b.tflite", "zoo/c.tflite"]


def scan_models(output, models, targets=(NNAPI, GPU)):
    """Write models, given as operators by name, scan them, and return the output."""
    for name, ops in models.items():
        Path(name).write_bytes(chain_model(ops).bytes())
    scan(list(models), targets, output, Workers())
    return output


def read(output):
    """The rows of both tables as they are in an output."""
    tables = read_tables(output)
    return {table: [dict(zip(names(table), row, strict=True)) for row in rows] for table, rows in tables.items()}


def judged(scanned):
    """The numbers of models that were judged, and that were unchanged."""
    return scanned.judged, scanned.unchanged
