"""Remove the prefixes that loggers print before a line. ``prefixes.tsv`` has the known ones, and others are learned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone

from .known_lines import statement_of
from .tables import FORMS, rows_of, sequence_of


@dataclass(frozen=True, slots=True)
class Message:
    """A log line without its logger's prefix. If the prefix does not give a field, the field is empty."""

    text: str
    process: str
    tag: str
    severity: str
    source: str
    """The source file that the runtime names in brackets."""


@dataclass
class RefusalList:
    """A delegate's list of refused operators, while it is being read."""

    name: str
    tag: str
    process: str
    is_interrupted: bool = False
    """True after a line that is not an entry."""

    def may_have(self, message: Message, is_operator_name: bool) -> bool:
        """Return whether a message may be an entry. After a line that is not an entry, only an operator's name is one."""
        is_same = message.tag in ("", self.tag or message.tag) and message.process in ("", self.process or message.process)
        return is_same and (is_operator_name or not self.is_interrupted)


_PREFIXES = [re.compile(row["pattern"]) for row in rows_of("prefixes")]
_MOST_PREFIXES = 5


def message_of(line: str) -> Message:
    """Return a line without terminal escapes and logger prefixes."""
    text = FORMS["blank"].sub(" ", FORMS["escape"].sub("", line.rstrip("\r\n")))
    if text.startswith("`") and text.rstrip().endswith("`"):
        text = text.strip(" `")
    process, tag, severity, source = "", "", "", ""
    for _ in range(_MOST_PREFIXES):
        match = _prefix(text.lstrip())
        if match is None:
            break
        groups = match.groupdict()
        process = process or groups.get("process") or groups.get("number") or ""
        tag = groups.get("tag") or tag
        severity = severity or groups.get("severity") or (groups.get("word") or "")[:1]
        text = match.string[match.end() :]
    for _ in range(2):
        if (match := FORMS["severity"].match(text.lstrip())) is not None:
            severity, text = (match["word"] or match["bracketed"])[0].upper(), match.string[match.end() :]
        if (match := FORMS["source"].match(text.lstrip())) is not None:
            source, text = match["source"], match.string[match.end() :]
    return Message(text, process, tag.strip(), severity, source)


def _prefix(text: str) -> re.Match[str] | None:
    if not text or not (text[0] in "[>|*/" or text[0].isalnum()):
        return None
    return next((match for pattern in _PREFIXES if (match := pattern.match(text)) is not None), None)


_NUMBER = r"0x[0-9a-f]+|\d+"
_VARYING = re.compile(rf"{_NUMBER}|\s+", re.IGNORECASE)
"""Matches the parts of a prefix that differ between lines. No limit cuts a number or blanks into several parts."""
_LONGEST_PREFIX = 200
_MOST_SHAPES = 8


class LearnedPrefixes:
    """The prefixes of an unknown logger or page, learned from the lines that TensorFlow Lite certainly printed."""

    def __init__(self) -> None:
        self.shapes: dict[str, re.Pattern[str]] = {}
        self.end = ""
        """The text that the logger or page writes after each line."""

    def without(self, message: Message) -> Message:
        """Return a message without the learned prefix and end. Learn the message's own first."""
        text = message.text
        known = FORMS["begin-of-line"].search(text)
        prefix = "" if known is None else text[: known.start()]
        if prefix.strip() and len(prefix) <= _LONGEST_PREFIX and not (prefix[-1].isalnum() or prefix[-1] in ".)"):
            if statement_of(prefix) is None:  # an exception may have several statements in one line
                self._learn(prefix)
            if (match := FORMS["end-of-line"].search(text)) is not None:
                self.end = match["end"].strip()
        if self.end and text.rstrip().endswith(self.end):
            text = text.rstrip().removesuffix(self.end)
        for shape in self.shapes.values():
            if (match := shape.match(text)) is not None:
                rest = message_of(text[match.end() :])
                levels = FORMS["level"].findall(match[0])
                severity = rest.severity or message.severity or (levels[-1][0].upper() if levels else "")
                return Message(rest.text, message.process, rest.tag or message.tag, severity, rest.source or message.source)
        return message if text == message.text else replace(message, text=text)

    def _learn(self, prefix: str) -> None:
        """Learn the form of a prefix. A number is matched in one way only, or the time could grow exponentially."""
        form, end = "", 0
        for number, part in enumerate(_VARYING.finditer(prefix)):
            varying = r"\s+" if part[0].isspace() else rf"(?=(?P<n{number}>{_NUMBER}))(?P=n{number})"
            form += re.escape(prefix[end : part.start()]) + varying
            end = part.end()
        form += re.escape(prefix[end:])
        if len(self.shapes) < _MOST_SHAPES:
            self.shapes.setdefault(form, re.compile(form, re.IGNORECASE))


_WRAPPED = [(begin, whole) for (*_, begin), (*_, whole) in zip(sequence_of("wrapped"), sequence_of("whole"), strict=True)]


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines. If a terminal has wrapped a line with counts, its two parts are joined."""
    held, whole = "", None
    for next_line in lines:
        line = next_line
        if whole is not None:
            joined, spaced = held.rstrip("\r\n") + line, f"{held.rstrip()} {line.lstrip()}"
            texts = (spaced,) if line[:1].isspace() or held.rstrip().endswith(":") else (joined, spaced)
            message = message_of(line)
            is_new = message.severity or not message.text.strip()
            fitting = None if is_new else next((text for text in texts if whole.search(text) is not None), None)
            if fitting is None:
                yield held
            line = fitting or line
        whole = next((end for begin, end in _WRAPPED if begin.search(line) is not None and end.search(line) is None), None)
        if whole is None:
            yield line
        held = line
    if whole is not None:
        yield held


_TEXTS = ("log", "message", "msg", "MESSAGE", "textPayload")


def text_of_json(line: str) -> str:
    """Return the text in a line that is a JSON object of a logger, or the line."""
    if not line.startswith('{"'):
        return line
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return line
    texts = [content[key] for key in _TEXTS if isinstance(content, dict) and isinstance(content.get(key), str)]
    return f"{texts[0].rstrip()}\n" if texts else line


def logcat_lines(text: str) -> list[str] | None:
    """Return the lines of a log that Android Studio exports as JSON, or None for any other text."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    messages = content.get("logcatMessages") if isinstance(content, dict) else None
    if not isinstance(messages, list):
        return None
    lines = []
    for entry in [message for message in messages if isinstance(message, dict)]:
        header = entry.get("header")
        level, tag, process = [str(header.get(key, "")) if isinstance(header, dict) else "" for key in ("logLevel", "tag", "pid")]
        start = f"{level[:1] or 'I'}/{tag}({process if process.isdigit() else 0}): "
        lines += [f"{start}{line}\n" for line in str(entry.get("message", "")).splitlines()]
    return lines


_OLDEST = date(2022, 9, 6)
"""The day on which the oldest known release, TensorFlow 2.10, was published."""
_FIRST = date(2017, 1, 1)
"""The earliest plausible day. Earlier dates come from a wrong clock."""


def is_before_known_releases(line: str) -> bool | None:
    """Return whether a logger printed a line before the oldest known release, or None without a plausible date."""
    if (match := FORMS["date"].search(line) or FORMS["date-of-glog"].search(line)) is None:
        return None
    try:
        if seconds := match.groupdict().get("seconds"):
            day = datetime.fromtimestamp(int(seconds), timezone.utc).date()
        else:
            day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return None
    return day < _OLDEST if day >= _FIRST else None


_TOOLS = ("benchmark", "label_image", "run_eval", "inference_diff", "litert-lm", "litert_lm")


def flags_in(text: str) -> dict[str, str] | None:
    """Return the flags of a command that starts one of TFLite's tools, with spaces in their names, or None."""
    if "--" not in text or not any(tool in text for tool in _TOOLS):
        return None
    flags = {flag["name"].replace("_", " ").lower(): flag["value"] for flag in FORMS["flag"].finditer(text)}
    return flags or None
