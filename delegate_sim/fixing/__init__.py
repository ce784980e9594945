"""Rewriting a model so that delegates take more of it: passes, the search among them, the file, and the proof."""
