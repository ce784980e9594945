"""Read the sections of a bundle that do not contain models."""
