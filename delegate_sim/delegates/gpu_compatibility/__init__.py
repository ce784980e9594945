"""Checks of a runtime function that both ML Drift and the older GPU delegate call.

Source: ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). Each module lists the checks of one family
of operators in the runtime's order. Both delegates add the checks of their own parsers.
"""
