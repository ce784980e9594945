"""The Prepare functions of CPU kernels. They set the shapes, types and allocations of tensors."""
