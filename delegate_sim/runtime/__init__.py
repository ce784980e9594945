"""The runtime's behavior: it resolves operators, prepares graphs and applies delegates."""
