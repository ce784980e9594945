"""Reduction of a model that fails to the smallest model that fails with the same message."""
