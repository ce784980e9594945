"""Simulate TensorFlow Lite Micro: missing operators, nodes that kernels refuse, and the size of the arena."""
