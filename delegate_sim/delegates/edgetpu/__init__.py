"""The Edge TPU's delegate. It takes only programs of the Edge TPU's compiler."""
