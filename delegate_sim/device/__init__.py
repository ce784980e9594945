"""What a device did: its logs, held against simulations, and what they teach of its driver."""
