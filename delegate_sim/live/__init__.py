"""Run the real code of delegates on this host, in separate processes, if the user has installed the required packages."""
