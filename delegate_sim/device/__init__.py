"""Read device logs, compare them with simulations, and learn driver profiles from them."""
