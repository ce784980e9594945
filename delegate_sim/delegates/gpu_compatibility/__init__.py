"""Checks that ML Drift and the older GPU delegate share through one function of the runtime.

Source: ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). There is one module for each family of
operators, with the checks in order. Each delegate adds the checks of its own parsers.
"""
