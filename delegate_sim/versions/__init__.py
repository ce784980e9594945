"""Operator versions: which features of a node demand which version."""
