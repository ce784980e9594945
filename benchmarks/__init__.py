"""What delegate-sim costs, measured on generated models."""
