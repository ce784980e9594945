"""Group refusals into causes: what keeps nodes on the CPU, what each cause costs, and what to change."""
