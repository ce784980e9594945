"""The Edge TPU's delegate. It takes only nodes that the Edge TPU's compiler created."""
