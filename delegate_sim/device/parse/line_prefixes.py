"""Remove the prefixes that loggers print before a line: logcat in all formats, Android Studio, Xcode, ROS, glog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timezone


@dataclass(frozen=True, slots=True)
class Message:
    """A log line without its logger's prefix. If the prefix does not give a field, the field is empty."""

    text: str
    process: str
    tag: str
    """The logcat tag."""
    severity: str
    """``V``, ``D``, ``I``, ``W``, ``E`` or ``F``."""
    source: str
    """The source file that the runtime names in brackets."""


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")

_DATE = r"(?:\d{4}-)?\d\d-\d\d"
_TIME = r"\d\d:\d\d:\d\d\.\d{1,9}"
_LETTER = "[VDIWEFA]"
_PROCESS = r"(?P<process>\d{1,9})"
_MONTH_AND_DAY = (
    r"(?:[^\W\d_]{3,5}\.? {1,2}\d{1,2}|\d{1,2}\.? [^\W\d_]{3,5}\.?|\d{1,2}[\u6708\uc6d4] {1,2}\d{1,2}) \d\d:\d\d:\d\d"
)
"""Pattern of the date that a system journal prints, in any language."""

_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        # logcat -v threadtime, with or without the user, or without the process and thread numbers
        rf"{_DATE} {_TIME} +(?:\S{{1,32}} +)?{_PROCESS} +\d+ +(?P<severity>{_LETTER}) (?P<tag>[^:]{{0,80}}?) *: ?",
        rf"{_DATE} {_TIME} +(?P<severity>{_LETTER}) (?P<tag>[^:]{{0,80}}?) *: ?",
        # logcat -v time, brief, tag and process; Android Studio before 2022
        rf"(?:(?:{_DATE} )?{_TIME} +)?(?:{_PROCESS}-\d+/\S{{1,200}} +)?(?P<severity>{_LETTER})/(?P<tag>[^:(]{{0,80}}?) *"
        r"(?:\( *(?P<number>\d{1,9})(?: *: *\d+)?\))?: ?",
        rf"(?P<severity>{_LETTER})\( *{_PROCESS}(?: *: *\w+)?\) ",
        # Android Studio since 2022, in its standard and compact views
        rf"(?:{_DATE} )?{_TIME} +(?:{_PROCESS}-\d+ +)?(?P<tag>\S{{1,80}}) +"
        rf"(?:\S{{1,200}} +)?(?P<severity>{_LETTER}) {{1,2}}",
        rf"[A-Za-z][\w.]{{2,100}} {{2,}}(?P<severity>{_LETTER}) {{2}}",
        # NSLog
        rf"\d{{4}}-\d\d-\d\d {_TIME}(?:[+-]\d{{4}})? [^\[]{{1,80}}\[{_PROCESS}:\d+\] ",
        # glog and absl, TensorFlow's own
        rf"(?P<severity>[IWEF])(?:\d{{4}}){{1,2}} (?:{_TIME}|\d\d:\d\d:\d+\.\d+) +\d+ [\w./-]{{1,200}}:\d+\] ?",
        rf"\d{{4}}-\d\d-\d\d {_TIME}: (?P<severity>[IWEF]) [\w./-]{{1,200}}:\d+\] ",
        # ROS, containers, system journals
        r"\[[\w./-]{1,80}-\d{1,6}\] ",
        r"\[(?:INFO|WARN|ERROR|DEBUG|FATAL)\] \[\d+\.\d+\] \[[^\]]{1,80}\]: ",
        r"[\w-]{1,60} +\| ",
        rf"{_MONTH_AND_DAY} \S{{1,80}} [^\s\[:]{{1,80}}(?:\[{_PROCESS}\])?: ",
        r"(?:flutter|stderr|stdout): ",
        # quoted logs, and logs with numbered lines
        r"(?:> ?)+",
        r"\d{1,4}: (?=\D|\d{1,4}[-:])",
        # services that run models on remote devices
        r"\[\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d\d:?\d\d: [\w./-]{1,80}\] ",
        r"\[job_id: \w{1,80}\] ",
        r"\[[^\[\]\s]{1,120}\.(?:tflite|litertlm)\] ",
        r"\[(?P<tag>tflite|litert)\] ",
        # times in seconds or in ISO 8601, marks of lists and tables in web pages, and tags without a time
        r"\[ *\d{1,9}\.\d{3,9}\] ",
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?:? ",
        r"[|*] ",
        rf"(?P<severity>{_LETTER}) (?P<tag>[A-Za-z]\w{{1,40}}) *: ",
        # the start of a line may be lost when it is copied
        r"/?(?P<tag>tflite|litert|native) *: ",
        r"TFLite (?P<word>Warning|Error): ",
    )
)
_HEADER = re.compile(rf"\[ {_DATE} {_TIME} +{_PROCESS}: *\w+ (?P<severity>{_LETTER})/(?P<tag>[^\]]{{0,80}}?) *\]")
"""Matches the line that ``logcat -v long`` prints above each message."""
_SEVERITY = re.compile(
    r"(?:(?P<word>VERBOSE|DEBUG|INFO|Info|WARN|WARNING|Warning|ERROR|Error|FATAL)(?: ?: |:$|: ?)|\[(?P<bracketed>[A-Z]{4,7})\] )"
)
_SOURCE = re.compile(r"\[(?P<source>[\w./-]{1,200}\.\w{1,4}):\d+\] ?")
_MOST_PREFIXES = 5


def message_of(line: str) -> Message:
    """Return a line without terminal escapes and logger prefixes."""
    text = _ESCAPES.sub("", line.rstrip("\r\n"))
    process, tag, severity, source = "", "", "", ""
    if (match := _HEADER.fullmatch(text.strip())) is not None:
        return Message("", match["process"], match["tag"], match["severity"], "")
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
        if (match := _SEVERITY.match(text.lstrip())) is not None:
            severity, text = (match["word"] or match["bracketed"])[0].upper(), match.string[match.end() :]
        if (match := _SOURCE.match(text.lstrip())) is not None:
            source, text = match["source"], match.string[match.end() :]
    return Message(text, process, tag.strip(), severity, source)


def _prefix(text: str) -> re.Match[str] | None:
    if not text or not (text[0] in "[>|*/" or text[0].isalnum()):
        return None
    for pattern in _PREFIXES:
        if (match := pattern.match(text)) is not None:
            return match
    return None


_OLDEST = date(2022, 9, 6)
"""The day on which the oldest known release, TensorFlow 2.10, was published."""
_FIRST = date(2017, 1, 1)
"""The earliest plausible day. Earlier dates come from a wrong clock."""
_DATED = re.compile(r"^\s*(?:(?P<year>20[12]\d)-(?P<month>\d\d)-(?P<day>\d\d)[ T]\d\d:|[IWEF]0000 00:00:(?P<seconds>1\d{9})\.)")
"""Matches a date that a logger prints with the year or as seconds since 1970."""
_GLOG_DATED = re.compile(r"\b[IWEF](?P<year>20[12]\d)(?P<month>\d\d)(?P<day>\d\d) \d\d:\d\d:")
"""Matches the date that glog prints."""


def is_before_known_releases(line: str) -> bool | None:
    """Return whether a logger printed a line before the oldest known release was published.

    Return None if the line has no date. Also return None if the date is before the earliest plausible day, because the clock
    was not set.
    """
    match = _DATED.search(line) or _GLOG_DATED.search(line)
    if match is None:
        return None
    try:
        if seconds := match.groupdict().get("seconds"):
            day = datetime.fromtimestamp(int(seconds), timezone.utc).date()
        else:
            day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return None
    return day < _OLDEST if day >= _FIRST else None
