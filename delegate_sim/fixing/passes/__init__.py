"""The passes: small rewrites of a model, each with its precondition and how exactly it keeps what the model computes."""
