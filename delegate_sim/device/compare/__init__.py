"""Compare a device log with simulations and explain the differences."""
