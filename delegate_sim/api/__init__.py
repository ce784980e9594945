"""The public Python functions, and the checks of their arguments."""
