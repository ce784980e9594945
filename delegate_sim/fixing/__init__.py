"""Rewrite models so that delegates take more nodes, and prove that the rewritten models compute the same results."""
