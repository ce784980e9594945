"""The passes: small rewrites of a model. Each pass has a precondition and an exactness."""
