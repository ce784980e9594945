"""Run the real code of delegates on this host, in separate processes. The user installs the code."""
