"""Rules for any delegate: checks, kinds of problem, and the engine that evaluates the checks."""
