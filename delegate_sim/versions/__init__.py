"""Operator versions: which features of a node require which version."""
