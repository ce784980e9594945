"""A subgraph with its tensors and nodes as delegates see it, and how it is split into partitions."""
