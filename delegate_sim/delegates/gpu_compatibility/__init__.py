"""Checks that both GPU delegates, the older one and ML Drift, share through one function of the runtime.

Source: ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). A module for each family of operators has
the conditions of its operators, in order; each delegate adds what its own parsers ask.
"""
