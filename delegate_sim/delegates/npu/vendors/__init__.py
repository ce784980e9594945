"""The compiler plugins, one module for each vendor."""
