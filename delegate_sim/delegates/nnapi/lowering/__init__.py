"""Lowering of partitions to NNAPI models: each node becomes NNAPI operands and operations."""
