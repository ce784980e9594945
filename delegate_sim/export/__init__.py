"""Export runs for other programs: Model Explorer's node data, DOT, GraphML, and networkx's JSON."""
