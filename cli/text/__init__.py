"""What the subcommands write as text."""
