"""Magic numbers: prime sizes in a decoder that the engine replaces by the sizes that it wants.

Source: google-ai-edge/LiteRT-LM, ``runtime/util/magic_number_configs_helper.cc`` (the class ``MagicNumberConfigsHelper``).
"""

from __future__ import annotations

_LEAST = 10
_STEP = 256


def is_magic(size: int) -> bool:
    """Return whether a size stands for another size: it is a prime above 10."""
    # bounded: the root of a dimension of 32 bits
    return size > _LEAST and all(size % divisor for divisor in range(2, int(size**0.5) + 1))


def target_of(size: int, most: int) -> int:
    """Return the size that replaces a magic number, given the greatest number of tokens.

    Without a smaller number of tokens, it is the greatest multiple of 256 below the magic number, or else the greatest power of
    two below it.
    """
    if not is_magic(size):
        return size
    if 0 < most < size:
        return most
    return size // _STEP * _STEP if size > _STEP else 1 << (size.bit_length() - 1)
