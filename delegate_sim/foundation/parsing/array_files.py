"""Read the arrays of ``.npz`` files, which may come from strangers."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ...errors import DelegateSimError, LimitError, OptionError
from ..files import open_input
from ..late_numpy import MOST_ARRAY_DIMENSIONS, np
from ..limits import element_count, how_to_raise, raised
from ..printable import printable
from ..work_budget import spend_steps

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_BYTES = 1 << 28
"""Up to this number of bytes, the arrays of a file may be larger than the file."""
_SUFFIX = ".npy"
_READING = "reading arrays"
_LONGEST_HEADER = 10_000
_STEPS_OF_AN_ARRAY = 200
_STEPS_OF_A_HEADER_BYTE = 3
"""Number of steps for each byte of an array's header, because NumPy parses the header as an expression of Python."""


class ArrayKind(NamedTuple):
    """The type and shape of an array in a file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def array_kinds(path: str) -> dict[str, ArrayKind]:
    """Return the types and shapes of the arrays in a file, by name. The arrays are not decompressed.

    Raises OptionError if the file cannot be read, or if its arrays have too many bytes.
    """
    with _opened(path) as (_, kinds):
        return dict(kinds)


def read_arrays(path: str, names: Collection[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays with these names, which must exist. Raises OptionError as ``array_kinds`` does."""
    with _opened(path) as (archive, _):
        return {name: _array(archive, name) for name in names}


@contextmanager
def _opened(path: str) -> Iterator[tuple[zipfile.ZipFile, Mapping[str, ArrayKind]]]:
    try:
        with open_input(path) as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("numpy.savez did not write it")
            with zipfile.ZipFile(file) as archive:
                members = [name for name in archive.namelist() if name.endswith(_SUFFIX)]
                # zipfile reads members of other methods without a limit.
                if not {archive.getinfo(name).compress_type for name in members} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError("an array has a compression that numpy.savez does not use")
                spend_steps(_STEPS_OF_AN_ARRAY * len(members), _READING)
                kinds = {name.removesuffix(_SUFFIX): _kind(archive, name) for name in members}
                size = sum([kind.dtype.itemsize * element_count(kind.shape) for kind in kinds.values()])
                most = max(raised(_MOST_BYTES), os.fstat(file.fileno()).st_size)
                if size > most:
                    raise ValueError(f"its arrays have more than {most:,} bytes{how_to_raise()}")
                yield archive, kinds
    except LimitError as error:
        raise OptionError(printable(f"{path}: {error}")) from error
    except DelegateSimError:
        raise
    except OSError as error:
        raise OptionError(printable(f"{path}: cannot be read as a .npz file: {error.strerror or error}")) from error
    except Exception as error:  # zipfile and NumPy raise many types
        raise OptionError(printable(f"{path}: cannot be read as a .npz file: {error}")) from error


def _kind(archive: zipfile.ZipFile, member: str) -> ArrayKind:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError("an array has an unknown version")
        size = _bytes(file, 2 if version == (1, 0) else 4)
        length = int.from_bytes(size, "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"the header of an array has more than {_LONGEST_HEADER:,} bytes")
        spend_steps(_STEPS_OF_A_HEADER_BYTE * length, _READING)
        header = io.BytesIO(size + _bytes(file, length))
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        try:
            shape, _, dtype = read(header)
        except Exception as error:  # NumPy raises many types, and quotes the header
            raise ValueError("the header of an array cannot be read") from error
        if dtype.hasobject:
            raise ValueError("an array has Python objects")
        if len(shape) > MOST_ARRAY_DIMENSIONS or min(shape, default=0) < 0:
            raise ValueError("the shape of an array is not possible")
        return ArrayKind(dtype, shape)


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(f"{name}{_SUFFIX}") as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def _bytes(file: IO[bytes], count: int) -> bytes:
    content = file.read(count)
    if len(content) < count:
        raise ValueError("an array is cut off")
    return content
