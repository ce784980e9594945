"""A stand-in for a process that runs Vela."""

from __future__ import annotations

import os

from delegate_sim.foundation import packages
from delegate_sim.live import vela
from delegate_sim.live.engine import Finished
from tests.support.delegates.npu_models import chain

REFUSED = (
    "Warning (supported operators) operator: NEG, ofm: '@0:2@'\nReason: Operation has tensor (@0:1@)\nMust be INT8\n\n"
    "Warning (supported operators) operator: CUSTOM, ofm: 'other'\nReason: Unsupported opType\n"
)
SUMMARY = (
    "system_config,memory_mode,core_clock,inference_time,sram_memory_used,dram_memory_used,on_chip_flash_memory_used,"
    "off_chip_flash_memory_used,nn_macs,cycles_npu,cycles_total\nSystem,Mode,500.0,0.5,86.625,0.0,0.0,1.0,7,8,9\n"
)


def table(name, *lines):
    return f'<table name="{name}">\n<![CDATA[\n' + "\n".join(lines) + "\n]]>\n</table>\n"


DATABASE = "<debug>\n" + "".join(
    [
        table("source", '"id","ext_key"', '1,"0"', '2,"1"', '3,"2"'),
        table("perf", '"source_id","operator"', '1,"Relu"', '2,"Passthrough"'),
        table("optimised", '"id","source_id"', "7,1"),
        table("queue", '"cmdstream_id","optimised_id"', "1,7"),
    ]
)


def compiled():
    return {
        "model_vela.tflite": chain(["NEG"]).bytes(),
        "model_debug.xml": DATABASE.encode(),
        "model_summary_System.csv": SUMMARY.encode(),
    }


def installed_stand_in(monkeypatch, folder):
    """Pretend that Vela is installed and compiles a file; return the path of a model for it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(packages, "package_version", lambda name: "5.2.0")
    stand_in(monkeypatch, 0, REFUSED, compiled())
    chain(["RELU", "NEG", "RESHAPE"]).write(folder / "m.tflite")
    return folder / "m.tflite"


def stand_in(monkeypatch, status, output, files=()):
    """Replace the process; count its runs."""
    runs = []

    def run(name, arguments, environment, folder):
        runs.append([name, *arguments])
        os.makedirs(os.path.join(folder, "out"))
        for file_name, content in dict(files).items():
            with open(os.path.join(folder, "out", file_name), "wb") as file:
                file.write(content)
        return Finished(status, output)

    monkeypatch.setattr(vela, "run_module", run)
    return runs
