"""Lowering of partitions to NNAPI models, in which each node becomes NNAPI operands and operations."""
