"""Lower partitions to NNAPI models: the operands and operations that each node becomes."""
