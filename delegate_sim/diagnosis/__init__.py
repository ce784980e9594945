"""Group refusals into causes: the reasons that keep nodes on the CPU, the cost of each, and the changes that fix them."""
