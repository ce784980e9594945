"""Records of device runs that others publish, and their comparison with simulations."""
