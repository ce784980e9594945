"""Simulate LiteRT-LM's engine on a bundle: its checks in order, from the header of the file to the first generated token."""
