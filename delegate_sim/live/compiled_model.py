"""Compile a model with LiteRT's ``CompiledModel`` and the GPU accelerator. The accelerator prints refusals."""

from __future__ import annotations

import sys

from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.gpu_options import GpuOptions
from ai_edge_litert.hardware_accelerator import HardwareAccelerator
from ai_edge_litert.options import Options


def _main(source: str, accelerators: str, precision: str) -> int:
    requested = HardwareAccelerator.GPU | HardwareAccelerator.CPU if "cpu" in accelerators.split(",") else HardwareAccelerator.GPU
    options = Options(hardware_accelerators=requested, gpu_options=GpuOptions(enforce_f32=precision == "fp32"))
    try:
        CompiledModel.from_file(source, options=options)
    except (RuntimeError, ValueError) as error:
        print(f"error: {error}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
