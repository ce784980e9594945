"""Real compiler plugins on this host, each in a process of its own, where the user has installed what they need."""
