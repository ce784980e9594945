"""What an acceptance rule is, whatever the delegate: checks, kinds of problem, and the engine that asks them."""
