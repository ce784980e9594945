"""Source models for ``docs/appendix/sweep.md``, and the generator of its tables."""
