"""The Prepare functions of CPU kernels, which set the shapes, types and allocations of tensors."""
