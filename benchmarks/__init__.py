"""Measure the time, memory and size of commands."""
