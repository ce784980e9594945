"""Results of simulations: reports, measures and comparisons."""
