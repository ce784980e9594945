"""Operator versions, and the features of nodes that require a certain version."""
