"""Learn profiles of drivers and devices from logs."""
