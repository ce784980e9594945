"""Text output of `analyze`: reports, overviews, comparisons and accelerators."""
