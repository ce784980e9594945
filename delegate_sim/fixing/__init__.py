"""Rewrite models so that delegates take more nodes: rewrite passes, the search for useful passes, file writing, and proof."""
