"""A worker process: it reads functions and arguments from standard input, calls the functions, and writes the results.

The process ends when standard input closes, also during a call, because the parent process has then ended.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

_Call = tuple[Callable[[Any], Any], Any]


def main() -> None:
    """Answer calls until standard input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
    with os.fdopen(os.dup(1), "wb") as results:
        os.dup2(2, 1)  # whatever a library prints is not a result
        threading.Thread(target=_read, args=(calls,), daemon=True).start()
        while True:
            function, argument = calls.get()
            pickle.dump(function(argument), results)
            results.flush()


def _read(calls: queue.SimpleQueue[_Call]) -> None:
    try:
        while True:
            calls.put(pickle.load(sys.stdin.buffer))  # written by the parent process
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
