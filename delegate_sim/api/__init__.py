"""What the package offers to Python: the public functions, and what they take for their arguments."""
