"""Subgraphs as delegates see them, and their partitioning."""
