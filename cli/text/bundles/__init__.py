"""Text about LiteRT-LM bundles."""
