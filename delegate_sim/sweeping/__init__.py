"""Convert a source model in many ways and compare the results on several targets."""
