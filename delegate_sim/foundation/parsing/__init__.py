"""Read TOML and JSON files, which may come from strangers."""
