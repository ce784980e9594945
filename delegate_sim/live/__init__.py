"""Run the real code of delegates on this host, in separate processes. Users install this code themselves."""
