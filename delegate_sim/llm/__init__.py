"""Simulate the checks of LiteRT-LM's engine on a bundle, from the header of the file to the first generated token."""
