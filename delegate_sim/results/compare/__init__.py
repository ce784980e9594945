"""Comparisons of runs, models, delegates and releases."""
