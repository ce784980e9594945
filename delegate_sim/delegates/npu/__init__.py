"""LiteRT 2's compiler plugins, which select nodes of a file for an NPU before the runtime loads it (``litert/compiler/plugin``)."""
