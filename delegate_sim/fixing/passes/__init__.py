"""The passes: small rewrites of a model, each with its precondition and its exactness."""
