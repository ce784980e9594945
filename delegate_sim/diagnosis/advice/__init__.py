"""Advice: the change that fixes a cause, and its wording."""
