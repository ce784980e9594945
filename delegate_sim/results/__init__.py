"""What simulations found: reports, measures and comparisons."""
