"""Readers of the sections of a bundle that are not models."""
