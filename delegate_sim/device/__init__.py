"""Read device logs, compare the logs with simulations, and learn driver profiles from the logs."""
