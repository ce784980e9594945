"""Show the progress of slow work on a terminal."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TextIO

_AFTER = 1.0
"""Seconds without output before the progress line appears."""
_EVERY = 0.25
_WIDTH = 80
"""The width of a terminal that does not tell its width."""
_CELLS = 20
"""The width of the bar."""
_LEAST_TEXT = 24
"""The smallest number of columns for text that is shortened in the middle, or that stands behind a bar."""
_CLEAR = "\r\x1b[K"


class Progress(ABC):
    """The progress of a command: what it works on, the share that is done, and the step of the current work."""

    _work, _share_before, _width = "", 0.0, 1.0

    def show(self, what: str, share: float = -1.0, width: float = 1.0) -> None:
        """Set the description of the current work.

        ``share`` is done before this work, and ``width`` is the share of this work.
        """
        self._work, self._share_before, self._width = what, max(share, 0.0), width
        self.set_text(what, share)

    def show_step(self, step: str, share: float) -> None:
        """Set the current step of the work, and the share of the work that is done."""
        self.set_text(f"{self._work}: {step}", self._share_before + share * self._width)

    @abstractmethod
    def set_text(self, what: str, share: float) -> None:
        """Show a description. A ``share`` from 0 to 1 adds a progress bar."""

    @abstractmethod
    def hide(self) -> None:
        """Make room for other output."""

    @abstractmethod
    def stop(self) -> None:
        """Stop showing progress."""


class ReportedProgress(Progress):
    """Progress that is passed to a function."""

    def __init__(self, report: Callable[[str, float], object]) -> None:
        self._report = report

    def set_text(self, what: str, share: float) -> None:
        """Call the function."""
        self._report(what, share)

    def hide(self) -> None:
        """Do nothing, because there is no other output."""

    def stop(self) -> None:
        """Do nothing."""


class ProgressLine(Progress):
    """A progress line on a terminal, which a separate thread updates. Other output hides the line for a second."""

    def __init__(self, stream: TextIO, program: str) -> None:
        self._stream = stream
        self._what, self._share = program, -1.0
        self._start = self._hidden = time.monotonic()
        self._is_shown = False
        self._lock = threading.Lock()
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def set_text(self, what: str, share: float) -> None:
        """Set the text of the line."""
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

    @property
    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH

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
                    after = f" ({now - self._start:.0f} s)"
                    # The last column stays empty, because some terminals begin a new line after a character in it.
                    self._write(f"{_CLEAR}{_line(self._what, self._share, self._columns - 1 - len(after))}{after}")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._is_done.set()


def _line(what: str, share: float, width: int) -> str:
    done = int(min(share, 1.0) * _CELLS)
    bar = f"[{('#' * _CELLS)[:done]:.<{_CELLS}}] " if share >= 0 else ""
    bar = bar if len(bar) + _LEAST_TEXT <= width else ""
    return bar + _shortened(what, width - len(bar))


def _shortened(text: str, width: int) -> str:
    """Shorten text in the middle. The count at the beginning and the file name at the end remain."""
    if len(text) <= width:
        return text
    return f"{text[:20]}...{text[23 - width :]}" if width > _LEAST_TEXT else text[: max(width, 0)]
