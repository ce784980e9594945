"""Checks that both GPU delegates, the older one and ML Drift, share through one function of the runtime.

Source: ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). Each family of operators has a module with
its operators' checks, in order; each delegate adds the checks of its own parsers.
"""
