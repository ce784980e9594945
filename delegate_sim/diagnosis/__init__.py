"""From refusals to their causes: the few things that keep nodes on the CPU, what each costs, and what to change."""
