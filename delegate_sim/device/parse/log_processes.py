"""Separate the lines of the processes in a log, so that each process has its own runs."""

from __future__ import annotations

from .line_prefixes import Message, message_of
from .log_contents import DeviceLog
from .log_reader import Reader

_OWN_TAGS = ("tflite", "litert", "native")
"""Beginnings of the logcat tags, in lower case, with which TFLite, LiteRT and their tools print."""


class ProcessReaders:
    """A reader for each process that uses TFLite.

    Lines without a process, and lines of processes such as drivers, belong to the process that printed before them.
    """

    def __init__(self) -> None:
        self.readers = {"": Reader()}
        self.last = ""
        self.place = 0

    def read(self, line: str) -> None:
        """Parse one line."""
        self.place += 1
        message = message_of(line)
        self.last = self._process_of(message)
        self.readers[self.last].read(message, line, self.place)

    def logs(self) -> tuple[DeviceLog, ...]:
        """Return the runs that are not empty, or the first run if all are empty."""
        logs = [log for reader in self.readers.values() for log in reader.logs()]
        return tuple([log for log in logs if not log.is_empty]) or tuple(logs[:1])

    def _process_of(self, message: Message) -> str:
        """Return the process whose reader gets a message. The lines before the first named process belong to that process."""
        process = message.process
        if process in self.readers:
            return process
        if not process or (message.tag and not message.tag.casefold().startswith(_OWN_TAGS)):
            return self.last
        self.readers[process] = self.readers.pop("") if "" in self.readers else Reader()
        return process
