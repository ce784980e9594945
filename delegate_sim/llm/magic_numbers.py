"""Magic numbers: prime sizes in a decoder that the engine replaces by other sizes.

Source: google-ai-edge/LiteRT-LM, ``runtime/util/magic_number_configs_helper.cc`` (the class ``MagicNumberConfigsHelper``).
"""

from __future__ import annotations

_LEAST = 10
_STEP = 256


def is_magic(size: int) -> bool:
    """Return whether a size is a magic number, which is a prime above 10."""
    # bounded: the square root of a 32-bit size
    return size > _LEAST and all(size % divisor for divisor in range(2, int(size**0.5) + 1))


def target_of(size: int, most: int) -> int:
    """Return the size that replaces ``size``, or ``size`` itself if it is not a magic number.

    If ``most``, the number of tokens, is smaller than the magic number, return ``most``. Otherwise, return the largest multiple
    of 256 below the magic number, or the largest power of two if there is no multiple.
    """
    if not is_magic(size):
        return size
    if 0 < most < size:
        return most
    return size // _STEP * _STEP if size > _STEP else 1 << (size.bit_length() - 1)
