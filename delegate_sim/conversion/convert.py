"""Convert a source model in processes with limits on time, memory and output.

A failure of the converter is returned, and not raised.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from ..errors import ModelError, OptionError
from ..foundation.printable import printable, shortened
from ..foundation.processes import python_file, signal_name
from .cache import ConversionCache, file_digest
from .calibration import DRAWN, Calibration
from .converters import Converter, Ended, Limits, Route, run_bounded
from .model_code import REFUSED
from .scripts import FLOAT_MODEL, RESULT, Script, code, scripts
from .settings import Settings
from .sources import VARIABLE, SourceKind, SourceModel

_SCRIPT = "convert.py"
_CHECK = str(Path(__file__).resolve().with_name("model_code.py"))
"""The program that checks a source model for code before it runs a script."""
_WITH_CODE = (SourceKind.KERAS, SourceKind.SAVED_MODEL, SourceKind.TORCH_EXPORT)
_CONSENT = f"allow its code with `sweep --run-model-code`, with run_model_code=True in Python, or with {VARIABLE}=1"
_IDENTIFIER = b"TFL3"
_NO_SPACE = os.strerror(errno.ENOSPC)
_LEAST_FREE = 4 << 20
"""Free space in bytes. If a disk has less free space, an unclear failure is attributed to the full disk."""


class FailureKind(Enum):
    """Reasons why a conversion writes no model."""

    MISSING = "missing"
    """The converter is not installed."""
    CRASHED = "crashed"
    """The converter crashed, did not start, or another process killed it."""
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    TOO_LARGE = "output too large"
    DISK_FULL = "disk full"
    """There is no space for temporary files."""
    ERROR = "converter's error"


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a conversion writes no model, in one line that is safe to print."""

    kind: FailureKind
    line: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion: a model file, or a failure."""

    source: SourceModel
    route: Route
    settings: Settings
    calibration: Calibration
    code: str
    path: str = ""
    """Path of the ``.tflite`` file in the folder of the cache, or "" if the conversion failed."""
    size: int = 0
    digest: str = ""
    """SHA-256 of the ``.tflite`` file."""
    failure: Failure | None = None
    seconds: float = 0.0
    """Duration of the conversion. If the conversion is cached, this is the duration of the original run."""
    memory: int = 0
    """Peak memory in bytes, or 0 if memory was not measured."""
    printed: str = ""
    """The last part of the converter's output, safe to print line by line."""
    is_kept: bool = False
    """True if the result comes from the cache."""


def convert(
    source: SourceModel,
    route: Route,
    settings: Settings,
    cache: ConversionCache,
    calibration: Calibration = DRAWN,
    limits: Limits | None = None,
) -> Conversion:
    """Convert a model, or return the cached conversion.

    Raise OptionError for settings that the route does not support, and ModelError for a source model with code that the user does
    not allow. KeyboardInterrupt is raised only when every process of the
    conversion has ended.
    """
    limits = limits or Limits()
    result = Conversion(source, route, settings, calibration, code(source, route, settings, calibration))
    missing = next((step for step in route.steps if step.is_missing), None)
    if missing is not None:
        line = f"{missing.name} is not installed: {missing.install}"
        return replace(result, failure=Failure(FailureKind.MISSING, line))
    key = _key(source, route, settings, calibration)
    entry = cache.find(key)
    stored = None if entry is None else _from_entry(result, entry, cache, limits)
    if stored is not None:
        return stored
    before = None
    if route.quantizer is not None:
        before = convert(source, Route(route.converter), settings.of_float_model, cache, calibration, limits)
        if before.failure is not None:
            return replace(before, route=route, settings=settings, code=result.code)
    return _run(result, key, before, cache, limits)


def _key(source: SourceModel, route: Route, settings: Settings, calibration: Calibration) -> str:
    elsewhere = replace(source, path=f"/source{os.path.splitext(source.path)[1]}", folder="/")
    data = replace(calibration, path="/data" if calibration.path else "", folder="/")
    content = {
        "scripts": [step.text for step in scripts(elsewhere, route, settings, data)],
        "source": [source.kind.value, source.digest],
        "data": calibration.digest if settings.calibrates else "",
        "converters": [astuple(step) for step in route.steps],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _run(result: Conversion, key: str, before: Conversion | None, cache: ConversionCache, limits: Limits) -> Conversion:
    script = scripts(result.source, result.route, result.settings, result.calibration)[-1]
    with _temporary_folder() as folder:
        try:
            if before is not None:
                shutil.copyfile(before.path, os.path.join(folder, FLOAT_MODEL))
            ended = run_script(script, folder, limits)
        except OSError as error:
            return replace(result, failure=Failure(FailureKind.DISK_FULL, printable(f"{folder}: {error.strerror or error}")))
        model = os.path.join(folder, RESULT)
        failure = _failure(script.converter, ended, model, limits)
        if failure is not None and failure.kind in (FailureKind.ERROR, FailureKind.CRASHED) and _is_full(folder, ended):
            full = f"{script.converter.name} failed because {os.path.dirname(folder)} has no space left"
            line = _shortened(f"{full}: free some space, or set TMPDIR to another folder")
            failure = Failure(FailureKind.DISK_FULL, line)
        result = replace(
            result,
            failure=failure,
            seconds=ended.seconds + (before.seconds if before else 0.0),
            memory=max(ended.memory, before.memory if before else 0),
            printed="\n".join(map(printable, _lines(ended.printed))),
        )
        if failure is None:
            digest = file_digest(model)
            result = replace(result, digest=digest, size=os.path.getsize(model), path=cache.model_path(digest))
        elif not _is_lasting(failure, ended):
            return result
        try:
            cache.keep(key, _entry(result, limits), model if failure is None else None)
        except OSError as error:
            raise OptionError(
                printable(f"{cache.folder}: the converted model cannot be stored in this folder: {error.strerror or error}")
            ) from None
    return result


@contextlib.contextmanager
def _temporary_folder() -> Iterator[str]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="delegate-sim-", ignore_cleanup_errors=True)
    except OSError as error:
        place = os.environ.get("TMPDIR") or "the folder for temporary files"
        raise OptionError(printable(f"{place}: {error.strerror or error}")) from None
    with folder as name:
        yield name


def _is_full(folder: str, ended: Ended) -> bool:
    if _NO_SPACE in ended.printed:
        return True
    try:
        return shutil.disk_usage(folder).free < _LEAST_FREE
    except OSError:
        return False


def run_script(script: Script, folder: str, limits: Limits) -> Ended:
    """Run a script in a folder with the converter's interpreter.

    Raise OSError if the script cannot be written, and ModelError if the source model has code that the user does not allow.
    """
    with open(os.path.join(folder, _SCRIPT), "w", encoding="utf-8") as file:
        file.write(script.text)
    temporary = os.path.join(folder, "temporary")
    os.mkdir(temporary)
    environment = {
        **os.environ,
        # Some converters run programs of their virtual environment, which they find only through PATH.
        "PATH": os.pathsep.join([os.path.dirname(script.converter.python), os.environ.get("PATH", os.defpath)]),
        "TMPDIR": temporary,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    source, command = script.source, [_SCRIPT]
    if source is not None and source.kind in _WITH_CODE and not source.may_run_code:
        command = [_CHECK, source.kind.value, source.path, _SCRIPT]
    ended = run_bounded(python_file(*command, python=script.converter.python, options=["-u"]), folder, environment, limits)
    if ended.status == REFUSED and source is not None and command[0] == _CHECK:
        reason = _shortened((ended.printed.strip().splitlines() or [""])[-1])
        raise ModelError(f"{printable(source.text)}: {reason}; if you trust the model, {_CONSENT}")
    return ended


def _failure(converter: Converter, ended: Ended, model: str, limits: Limits) -> Failure | None:
    name = converter.name
    match ended.broken:
        case "time":
            return Failure(FailureKind.TIMED_OUT, f"{name} was stopped after {limits.seconds:g} seconds")
        case "memory":
            return Failure(
                FailureKind.OUT_OF_MEMORY, f"{name} was stopped because it used more memory than {_bytes(limits.memory)}"
            )
        case "output":
            return Failure(FailureKind.TOO_LARGE, f"{name} was stopped because it had written {_bytes(limits.output)} of files")
        case "printed":
            return Failure(FailureKind.TOO_LARGE, f"{name} was stopped because it had printed more than {_bytes(limits.printed)}")
        case "":
            pass
        case _:
            problem = f"did not run: {ended.printed}" if ended.printed else "was ended by another process"
            return Failure(FailureKind.CRASHED, _shortened(f"{name} {problem}"))
    if ended.status is not None and ended.status < 0:
        return Failure(FailureKind.CRASHED, f"{name} crashed ({signal_name(-ended.status)})")
    if ended.status != 0:
        line = error_line(ended.printed)
        is_memory = "MemoryError" in line or "std::bad_alloc" in ended.printed
        kind = FailureKind.OUT_OF_MEMORY if is_memory else FailureKind.ERROR
        return Failure(kind, _shortened(f"{name}: {line or f'ended with status {ended.status} without a message'}"))
    try:
        with open(model, "rb") as file:
            if file.read(8)[4:] == _IDENTIFIER:
                return None
    except OSError:
        return Failure(FailureKind.ERROR, f"{name} finished, but wrote no model")
    return Failure(FailureKind.ERROR, f"{name} finished, but its output is not a TFLite model")


def _is_lasting(failure: Failure, ended: Ended) -> bool:
    if failure.kind is FailureKind.DISK_FULL:
        return False
    return failure.kind is not FailureKind.CRASHED or ended.status not in (None, -signal.SIGTERM, -9)


def _bytes(count: int) -> str:
    return f"{count / (1 << 30):.3g} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.3g} MiB"


_COLORS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(:.*)?$")
_LOCATED_ERROR = re.compile(r"(?:.*?: )?(?:\S+:\d+(?::\d+)?: )?error: (?:loc\(.*?\): )?(.+)")
"""A message that a compiler such as MLIR reports at a location. The only group is the message without the location."""
_CAUSE = "The above exception was the direct cause of the following exception:"
_TRACEBACK = "Traceback (most recent call last):"
_MOST_LINE = 300
_MOST_LINES = 400


def _lines(printed: str) -> list[str]:
    clean = _COLORS.sub("", printed).replace("\r\n", "\n")
    return [line.rpartition("\r")[2] for line in clean.split("\n")][-_MOST_LINES:]


def error_line(printed: str) -> str:
    """Return the exception of the last traceback. If there is no traceback, return the last line about an error.

    If the exception lists a compiler's errors, return all of these errors without their locations. If the exception has a direct
    cause, return both. If there is also no line about an error, return the last line.
    """
    lines = [line.rstrip() for line in _lines(printed)]
    starts = [place for place, line in enumerate(lines) if line.endswith(_TRACEBACK)]
    last = _exception(lines[starts[-1] :]) if starts else ""
    if last:
        before = lines[starts[-2] : starts[-1]] if len(starts) > 1 else []
        cause = _exception(before[: before.index(_CAUSE)]) if _CAUSE in before else ""
        return f"{last}; cause: {cause}" if cause else last
    printed_lines = [line.strip() for line in lines if line.strip()]
    errors = [line for line in printed_lines if re.match(r"(error|fatal)\b", line, re.IGNORECASE)]
    return (errors or printed_lines or [""])[-1]


def _exception(lines: Sequence[str]) -> str:
    for place, line in enumerate(lines[1:], 1):
        if line and not line.startswith(" ") and _EXCEPTION.match(line):
            return _exception_line([line.strip() for line in lines[place:] if line.strip()])
    return ""


def _exception_line(lines: Sequence[str]) -> str:
    first = lines[0]
    matches = [_LOCATED_ERROR.match(line) for line in lines]
    errors = list(dict.fromkeys([match[1] for match in matches if match is not None]))
    if errors and (matches[0] is not None or first.endswith(":")):
        return f"{first.partition(':')[0]}: {'; '.join(errors)}"
    return f"{first} {lines[1]}" if first.endswith(":") and len(lines) > 1 else first


def _shortened(line: str) -> str:
    return shortened(printable(line), _MOST_LINE)


def _entry(result: Conversion, limits: Limits) -> Mapping[str, Any]:
    failure = result.failure
    return {
        "digest": result.digest,
        "size": result.size,
        "failure": None if failure is None else [failure.kind.value, failure.line],
        "seconds": result.seconds,
        "memory": result.memory,
        "printed": result.printed,
        "limits": asdict(limits),
    }


_LIMIT_FAILURES: Mapping[FailureKind, tuple[str, ...]] = {
    FailureKind.TIMED_OUT: ("seconds",),
    FailureKind.OUT_OF_MEMORY: ("memory",),
    FailureKind.TOO_LARGE: ("output", "printed"),
}
"""The limits that can cause each kind of failure.

If the user has raised one of these limits since the failure was cached, the conversion runs again.
"""


def _from_entry(result: Conversion, entry: Mapping[str, Any], cache: ConversionCache, limits: Limits) -> Conversion | None:
    try:
        failure = None
        if entry["failure"] is not None:
            kind, line = entry["failure"]
            failure = Failure(FailureKind(kind), printable(str(line)))
            if any(getattr(limits, name) > entry["limits"][name] for name in _LIMIT_FAILURES.get(failure.kind, ())):
                return None
        return replace(
            result,
            path="" if failure else cache.model_path(str(entry["digest"])),
            size=int(entry["size"]),
            digest=str(entry["digest"]),
            failure=failure,
            seconds=float(entry["seconds"]),
            memory=int(entry["memory"]),
            printed="\n".join(map(printable, str(entry["printed"]).split("\n"))),
            is_kept=True,
        )
    except (KeyError, TypeError, ValueError):
        return None
