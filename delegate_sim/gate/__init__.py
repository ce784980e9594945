"""The CI check: compare each model on each target with a committed baseline and budgets."""
