"""Rewrite models so that delegates take more nodes, and prove that the results stay the same."""
