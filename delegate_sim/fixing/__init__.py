"""Rewrite models so that delegates take more nodes: passes, search, file writing, and proof."""
