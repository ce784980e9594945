"""Run two models in the real runtime on this CPU, and compare their outputs."""
