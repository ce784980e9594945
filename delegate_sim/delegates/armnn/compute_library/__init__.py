"""The backend CpuAcc: Compute Library on Arm processors with Neon.

Source: ``NeonLayerSupport.cpp`` and ``workloads`` (``src/backends/neon`` of ARM-software/armnn), which ask the functions of
ARM-software/ComputeLibrary. The demands are those of the functions' ``validate``, as tables of types, ranks and limits. Only
demands that a prepared node may miss are listed. A function stops at its first demand that is not met.
"""

from __future__ import annotations

from ..steps import Backend
from . import elementwise, shapes, windows

CPU_ACC = Backend("CpuAcc", {**elementwise.LAYERS, **windows.LAYERS, **shapes.LAYERS}, reports_all=False)
"""The backend CpuAcc."""
