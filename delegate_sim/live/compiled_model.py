"""Compile a model with LiteRT's ``CompiledModel`` and the GPU accelerator. The accelerator prints refusals.

From LiteRT 2.4 on, also print how many nodes each accelerator takes: ``delegation: {JSON}``. With the argument ``run``, also run
the first signature once, and print how long the steps take: ``built: SECONDS`` and ``ran: SECONDS``.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

import ai_edge_litert
import numpy as np
from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.gpu_options import GpuOptions
from ai_edge_litert.hardware_accelerator import HardwareAccelerator
from ai_edge_litert.options import Options


def _main(source: str, accelerators: str, precision: str, then: str = "") -> int:
    requested = HardwareAccelerator.GPU | HardwareAccelerator.CPU if "cpu" in accelerators.split(",") else HardwareAccelerator.GPU
    options = Options(hardware_accelerators=requested, gpu_options=GpuOptions(enforce_f32=precision == "fp32"))
    start = time.perf_counter()
    try:
        model = CompiledModel.from_file(source, options=options)
    except (RuntimeError, ValueError) as error:
        print(f"error: {error}", flush=True)
        return 1
    built = time.perf_counter() - start
    library = ctypes.CDLL(str(Path(ai_edge_litert.__file__).with_name("libLiteRt.so")))
    if hasattr(library, "LiteRtCompiledModelGetDelegationMetrics"):
        print(f"delegation: {json.dumps(_delegation(library, source, int(requested)))}", flush=True)
    if then == "run":
        print(f"built: {built}", flush=True)
        return _run(model)
    return 0


def _run(model: CompiledModel) -> int:
    try:
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        for index, buffer in enumerate(inputs):
            size = model.get_input_buffer_requirements(index)["buffer_size"]
            buffer.write(np.zeros_like(buffer.read(size, np.uint8)))
        start = time.perf_counter()
        model.run_by_index(0, inputs, outputs)
        for buffer in outputs:
            buffer.read(1, np.uint8)  # waits until the accelerator has finished
    except (RuntimeError, ValueError) as error:
        print(f"error: {error}", flush=True)
        return 1
    print(f"ran: {time.perf_counter() - start}", flush=True)
    return 0


def _delegation(library: Any, source: str, accelerators: int) -> dict[str, list[int]]:
    """Compile the model through the C API, and return for each accelerator the numbers of delegated nodes and of partitions.

    Return an empty result if a call fails. Python's ``CompiledModel`` does not give its handle.
    """
    environment, model, options, compiled, metrics, number = (
        *(ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()),
        ctypes.c_int(),
    )
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("LiteRtCreateEnvironment", (0, None, ctypes.byref(environment))),
        ("LiteRtCreateModelFromFile", (environment, source.encode(), ctypes.byref(model))),
        ("LiteRtCreateOptions", (ctypes.byref(options),)),
        ("LiteRtSetOptionsHardwareAccelerators", (options, accelerators)),
        ("LiteRtCreateCompiledModel", (environment, model, options, ctypes.byref(compiled))),
        ("LiteRtCompiledModelGetDelegationMetrics", (compiled, ctypes.byref(metrics))),
        ("LiteRtGetNumDelegationMetricsAccelerators", (metrics, ctypes.byref(number))),
    ]
    if any(getattr(library, name)(*arguments) for name, arguments in calls):
        return {}
    return dict(_taken(library, metrics, index) for index in range(len(HardwareAccelerator)) if index < number.value)


def _taken(library: Any, metrics: ctypes.c_void_p, index: int) -> tuple[str, list[int]]:
    accelerator, hardware = ctypes.c_void_p(), ctypes.c_int()
    library.LiteRtGetDelegationMetricsAccelerator(metrics, index, ctypes.byref(accelerator))
    library.LiteRtGetAcceleratorDelegationMetricsHardwareType(accelerator, ctypes.byref(hardware))
    numbers = []
    for counted in ("DelegatedNodeCount", "PartitionCount"):
        number = ctypes.c_int()
        getattr(library, f"LiteRtGetAcceleratorDelegationMetrics{counted}")(accelerator, ctypes.byref(number))
        numbers.append(number.value)
    return HardwareAccelerator(hardware.value).name.lower(), numbers


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
