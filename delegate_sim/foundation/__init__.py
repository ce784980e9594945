"""Files, limits, text and other basics that every other package uses."""
