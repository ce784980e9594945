"""Operator versions, and the features of a node that require them."""
