"""LiteRT-LM's real engine, which runs on bundles."""
