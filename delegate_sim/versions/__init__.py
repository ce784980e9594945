"""Operator versions, and the features of nodes that need certain versions."""
