"""The delegates, one package each."""
