"""Checks of a runtime function that both ML Drift and the older GPU delegate call.

Source: ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). Each family of operators has a module
with the family's checks in the runtime's order. Both delegates add the checks of their own parsers.
"""
