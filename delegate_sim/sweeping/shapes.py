"""Parse fixed shapes of inputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import OptionError
from ..foundation.printable import printable

Shapes = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs of an input's name and its shape."""


def parse_shapes(texts: Sequence[str]) -> Shapes:
    """Parse texts such as ``INPUT=1,224,224,3``. Raises OptionError for any other form."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, equals, sizes = text.rpartition("=")
        if not equals or not all(size.isascii() and size.isdigit() and 0 < int(size) < 1 << 31 for size in sizes.split(",")):
            raise OptionError(printable(f"a shape is INPUT=1,224,224,3, not {text!r}"))
        shapes[name] = tuple(map(int, sizes.split(",")))
    return tuple(shapes.items())
