"""Hypothetical changes of a model: other types, fixed shapes, removed nodes, accepted operators."""
