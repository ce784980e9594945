"""Show the progress of slow work on a terminal."""

from __future__ import annotations

import threading
import time
from typing import TextIO

_AFTER = 1.0
"""Seconds without output before the progress line appears."""
_EVERY = 0.25
_WIDTH = 76
_CELLS = 20
"""The width of the bar."""
_CLEAR = "\r\x1b[K"


class Progress:
    """A progress line that a separate thread updates. Other output hides the line for a second."""

    def __init__(self, stream: TextIO, program: str) -> None:
        self._stream = stream
        self._what, self._share = program, -1.0
        self._start = self._hidden = time.monotonic()
        self._is_shown = False
        self._lock = threading.Lock()
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def show(self, what: str, share: float = -1.0) -> None:
        """Set the description of the current work. A ``share`` from 0 to 1 adds a progress bar."""
        with self._lock:
            self._what, self._share = what, share

    def hide(self) -> None:
        """Remove the line. The line appears again after some time without other output."""
        with self._lock:
            self._remove()
            self._hidden = time.monotonic()

    def stop(self) -> None:
        """Remove the line permanently, and stop the thread."""
        self._is_done.set()
        self._thread.join()
        with self._lock:
            self._remove()

    def _remove(self) -> None:
        if self._is_shown:
            self._write(_CLEAR)
            self._is_shown = False

    def _run(self) -> None:
        while not self._is_done.wait(_EVERY):
            with self._lock:
                now = time.monotonic()
                if now - self._hidden >= _AFTER:
                    self._is_shown = True
                    self._write(f"{_CLEAR}{_line(self._what, self._share)} ({now - self._start:.0f} s)")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._is_done.set()


def _line(what: str, share: float) -> str:
    if share < 0:
        return _shortened(what, _WIDTH)
    done = int(min(share, 1.0) * _CELLS)
    bar = f"[{('#' * _CELLS)[:done]:.<{_CELLS}}] "
    return bar + _shortened(what, _WIDTH - len(bar))


def _shortened(text: str, width: int) -> str:
    """Shorten text in the middle. The count at the beginning and the file name at the end remain."""
    return text if len(text) <= width else f"{text[:20]}...{text[23 - width :]}"
