"""Rewrite models so that delegates take more nodes: passes, the search for useful passes, file writing, and the proof."""
