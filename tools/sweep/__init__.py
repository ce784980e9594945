"""Source models for ``docs/sweep.md``, and the generator of its tables."""
