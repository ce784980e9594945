"""Checks of the built wheel: in clean environments, beside other packages, and on every Python."""
