"""Runs in the files of other programs: Model Explorer's node data, DOT, GraphML, and networkx's JSON."""
