"""Running two models in the real runtime, on this CPU, and comparing what they compute."""
