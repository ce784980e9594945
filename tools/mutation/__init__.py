"""Check whether the tests notice changes of the code: ``python -m tools.mutation``."""
