"""LiteRT 2's compiler plugins.

They select nodes for an NPU before the runtime loads the model file (``litert/compiler/plugin``).
"""
