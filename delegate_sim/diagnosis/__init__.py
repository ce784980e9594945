"""From refusals to what causes them: which few things keep nodes on the CPU, what each costs, and what to change."""
