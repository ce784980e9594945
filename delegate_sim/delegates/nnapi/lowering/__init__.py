"""Lowering of partitions to NNAPI models. Each node becomes NNAPI operands and operations."""
