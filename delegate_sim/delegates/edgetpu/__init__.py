"""The Edge TPU's delegate, which takes only programs of the Edge TPU's compiler."""
