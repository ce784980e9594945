"""The gate of a build: what each model does on each target, against a committed baseline and budgets."""
