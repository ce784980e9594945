"""The command line of delegate-sim."""
