"""Where the Prepare functions live: one module for each family of operators."""

from __future__ import annotations

from importlib import import_module

FAMILIES = (
    "elementwise",
    "activations",
    "convolution",
    "pooling",
    "blocks",
    "reduction",
    "reshaping",
    "joining",
    "filling",
    "slicing",
    "padding",
    "gathering",
    "searching",
    "recurrent",
    "matrix",
    "control_flow",
    "stablehlo",
    "signal",
    "random",
    "detection",
)


def register() -> None:
    """Import every family, which registers its Prepare functions."""
    for family in FAMILIES:
        import_module(f".{family}", __package__)
