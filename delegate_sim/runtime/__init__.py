"""The runtime's behavior: resolving operators, preparing graphs, applying delegates."""
