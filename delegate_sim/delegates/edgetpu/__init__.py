"""The Edge TPU's delegate, which takes only what the compiler of the Edge TPU made."""
