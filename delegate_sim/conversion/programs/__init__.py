"""Programs that run in processes of their own, and need only the standard library."""
