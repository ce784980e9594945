"""Large files that are looked at in place: mapped into memory, of which only what is looked at is read.

A mapped file that another program shortens ends a process that looks behind its new end (SIGBUS). Where ``survive_shrinking`` was
called, on Linux, zeros are put in the place of what is gone, and who asks ``is_shrunk`` or ``refuse_shrunk`` learns of it: no
result of such bytes may be given out. Elsewhere the process ends, as the system has it.
"""

from __future__ import annotations

import errno
import functools
import mmap
import signal
import sys
import weakref
from typing import Any, BinaryIO

_mapped: weakref.WeakKeyDictionary[mmap.mmap, str] = weakref.WeakKeyDictionary()
"""What is mapped, with the path of the file."""
_places: weakref.WeakKeyDictionary[mmap.mmap, int] = weakref.WeakKeyDictionary()
"""Where it lies in memory."""


class _Process:
    """What this process does about files that shrink."""

    survives = False


class ShrunkError(OSError):
    """A file became shorter while it was used; worded to follow what could not be made of it."""


def survive_shrinking() -> None:
    """Have this process go on when a file shrinks that it looks at: for programs, not for those that import this package."""
    _Process.survives = sys.platform == "linux" and sys.maxsize > 1 << 32


def map_file(file: BinaryIO, path: str = "") -> memoryview:
    """Return the bytes of an open file, which are read when they are looked at. Raises OSError, ValueError if it is empty."""
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if path:
        _mapped[content] = path
        if _Process.survives:
            _places[content] = _address(content)
            _handle()
    return memoryview(content)


def is_shrunk(view: memoryview) -> bool:
    """Whether bytes are of a file that was mapped and has become shorter since."""
    return isinstance(view.obj, mmap.mmap) and view.obj in _mapped and _is_shorter(view.obj)


def refuse_shrunk() -> None:
    """Raise ShrunkError if a mapped file that is still in use has become shorter; each is told of once."""
    for content, path in list(_mapped.items()):
        if _is_shorter(content):
            del _mapped[content]
            raise ShrunkError(errno.EIO, f"{path} shrank while it was read")


def _is_shorter(content: mmap.mmap) -> bool:
    return content.size() < len(content)


def _address(content: mmap.mmap) -> int:
    import ctypes

    class View(ctypes.Structure):  # Py_buffer, whose first field is the address
        _fields_ = (("address", ctypes.c_void_p), ("rest", ctypes.c_byte * 256))

    view = View()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(content), ctypes.byref(view), 0)
    address = view.address
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    return int(address or 0)


_OFFSET_OF_ADDRESS = 16
"""Bytes in ``siginfo_t`` before the address that was looked at, on Linux of 64 bits."""
_MASK = 128
"""Bytes of ``sigset_t``."""
_SA_SIGINFO = 4
_MAP_FIXED = 0x10


def _handle() -> None:
    """Have what is gone of a mapped file replaced by zeros when it is looked at, whoever handled that before.

    A handler of Python's own runs too late: the instruction that failed is repeated first.
    """
    library, action, _ = _handler()
    library.sigaction(int(signal.SIGBUS), action, None)


@functools.cache
def _handler() -> tuple[Any, Any, object]:
    """Return the C library, what it is to be told, and the function that is then called, which must not be collected."""
    import ctypes

    class Action(ctypes.Structure):  # struct sigaction of Linux's C libraries
        _fields_ = (
            ("handler", ctypes.c_void_p),
            ("mask", ctypes.c_byte * _MASK),
            ("options", ctypes.c_int),
            ("restorer", ctypes.c_void_p),
        )

    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)

    def replace(number: int, info: int, _: int) -> None:
        address = ctypes.c_void_p.from_address(info + _OFFSET_OF_ADDRESS).value or 0
        page = address - address % mmap.PAGESIZE
        for content, start in list(_places.items()):
            end = start + len(content)
            if start <= address < end:
                private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
                if library.mmap(page, end - page, mmap.PROT_READ, private, -1, 0) == page:
                    return
        library.signal(number, None)  # another's fault, which ends the process when it is repeated

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(replace)
    action = Action(ctypes.cast(handler, ctypes.c_void_p), (ctypes.c_byte * _MASK)(), _SA_SIGINFO)
    return library, ctypes.byref(action), handler
