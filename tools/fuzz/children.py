"""Run an action in a forked process, so that nothing it does takes the fuzzer along."""

from __future__ import annotations

import os
import pickle
import resource
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

_Result = TypeVar("_Result")


class Ended(NamedTuple, Generic[_Result]):
    """The end of a child process. ``result`` is None if the child died before it could return one."""

    result: _Result | None
    status: int
    """As ``os.wait`` returns it."""
    seconds: float
    """Time of the processor."""
    peak: int
    """Bytes of memory that the child held at most."""


def in_child(action: Callable[[], _Result], address_space: int, cpu_seconds: int | None = None) -> Ended[_Result]:
    """Run an action in a child with these limits, and wait for its end."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
            if cpu_seconds is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
            content = pickle.dumps(action())
            with os.fdopen(write, "wb") as pipe:
                pipe.write(content)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    _, status, usage = os.wait4(child, 0)
    result = pickle.loads(content) if content else None  # from the own child
    return Ended(result, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
