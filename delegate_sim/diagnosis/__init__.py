"""Find the causes that keep nodes on the CPU, the cost of each cause, and the change that fixes it."""
