"""A delegate that groups nodes itself, inlines some, and has a stage behind it, to show what a delegate may do."""
