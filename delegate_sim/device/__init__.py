"""What a device did: its logs, compared with simulations, and what they teach about its driver."""
