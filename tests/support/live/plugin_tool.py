"""A stand-in for LiteRT's tool that runs compiler plugins."""

from __future__ import annotations

import sys

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.foundation import packages
from delegate_sim.live import live_runs
from delegate_sim.live.comparison import compare_live
from tests.support.delegates.npu_models import chain

LINES = (
    "INFO: [compiler_plugin.cc:524] Partition strategy: 0",
    "INFO: [compiler_plugin.cc:742] Partitioned subgraph<0>, selected 1 ops, from a total of 2 ops. resulted in 1 partitions.",
)

YIELDED = "[LITERT_TOOLS:PARTITION] Partitioning yielded 1 new subgraphs"

FAILS = "sys.exit(1)"


def stand_in(tmp_path, monkeypatch):
    """Install a stand-in for LiteRT's package; the function that is returned makes its tool.

    The tool prints lines, writes partitions and ends with a status.
    """
    for folder in ("tools", "vendors/intel_openvino/compiler", "vendors/mediatek/compiler"):
        (tmp_path / folder).mkdir(parents=True)
    installed = {"ai_edge_litert": tmp_path, "openvino": tmp_path}
    monkeypatch.setattr(packages, "package_folder", installed.get)
    monkeypatch.setattr(packages, "runtime_release", lambda: "litert-2.3.0")
    monkeypatch.setattr(packages, "package_version", lambda name: "")

    def make(lines=LINES, ops=("RELU",), end="sys.exit(0)"):
        partitions = chain(list(ops)).bytes()
        path = tmp_path / "tools" / "apply_plugin_main"
        path.write_text(
            f"#!{sys.executable} -IS\nimport os, signal, sys, time\nout = next(a[4:] for a in sys.argv if a.startswith('--o='))\n"
            f"print({chr(10).join([*lines, YIELDED])!r}, flush=True)\nopen(out, 'wb').write({partitions!r})\n{end}\n",
            encoding="utf-8",
        )
        path.chmod(0o755)

    make.packages = installed
    return make


def find_engine(name):
    return live_runs.find_engine(find_delegate(name))


def compared(name="npu-intel", **options):
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    return compare_live(find_engine(name), model, delegate_sim.analyze(model, name, options, defaults="api").runs[0])
