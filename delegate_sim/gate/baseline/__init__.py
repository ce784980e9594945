"""The committed baseline and its file format."""
