"""What the rules of ML Drift are put together from: demands on counts, values, constants and types, and those of composites."""
