"""Hypothetical changes of a model, such as other types, fixed shapes and removed nodes."""
