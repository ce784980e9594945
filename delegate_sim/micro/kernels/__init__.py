"""The kernels of TensorFlow Lite Micro, by families of operators."""

from __future__ import annotations

from ...rules.rule import modules_of_families

MODULES = modules_of_families(
    activation="activation conversion",
    arithmetic="arithmetic reduction",
    copying="gathering filling padding",
    layers="matrix pooling resizing",
    recurrent="recurrent control_flow",
    reshaping="joining reshaping",
)
"""The module of each family."""
