"""Delegates that fit in one file each. ``kinds.json`` has the texts of their kinds of problem."""
