"""Prepare of CPU kernels: the shapes, types and allocations that the interpreter gives tensors before a delegate is applied."""
