"""The check in a build: what each model does on each target, compared with a committed baseline and budgets."""
