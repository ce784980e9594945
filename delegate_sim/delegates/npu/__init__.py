"""LiteRT 2's compiler plugins, which select nodes for an NPU before the runtime loads the file (``litert/compiler/plugin``)."""
