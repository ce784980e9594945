"""Subgraphs as delegates see them, and the partitioning of subgraphs."""
