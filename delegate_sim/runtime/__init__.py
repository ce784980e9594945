"""What the runtime does with a model: resolves operators, prepares graphs, applies delegates."""
