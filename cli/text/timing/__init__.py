"""Measured times as text."""
