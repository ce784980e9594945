"""The subcommands of ``delegate-sim``."""
