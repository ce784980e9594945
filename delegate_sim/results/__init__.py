"""What is told of simulations: reports, measures, and comparisons of them."""
