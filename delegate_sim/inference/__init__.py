"""Run two models in the real runtime on this CPU, and compare the outputs of both models."""
