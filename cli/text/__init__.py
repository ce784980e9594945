"""Text output of the subcommands."""
