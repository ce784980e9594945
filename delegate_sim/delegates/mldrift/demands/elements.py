"""The size of an element."""

from __future__ import annotations

from ....model import schema


def element_bits(name: str) -> int:
    """Bytes of an element as ``GetSizeOfType`` gives them, in bits; 0 where it gives none. Types below a byte take one."""
    bits = schema.BITS_PER_ELEMENT.get(name, 0)
    return max(bits, 8) if bits else 0
