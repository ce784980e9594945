"""Mutants of models, aware of the format, against every part of the program: ``python -m tools.fuzz``."""
