"""Generators of documentation tables that simulate the public models in ``../shared``."""
