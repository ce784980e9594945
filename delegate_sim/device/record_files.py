"""Read records of device runs: JSON of edge-compat and of Qualcomm AI Hub, and logs.

The schemas are ``schemas/device_run_result.schema.json`` and ``schemas/matrix.schema.json`` of john-rocky/edge-compat, and the
result of ``ProfileJob.download_profile`` of the package qai-hub. A record has what identifies the run, and what was recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..delegates.registry import ACCELERATORS, COMPUTE_UNITS
from ..errors import LimitError
from ..foundation.files import read_whole
from ..foundation.limits import how_to_raise, raised
from ..foundation.parsing import json_text
from ..foundation.printable import printable
from .parse.log import read_runs_file
from .parse.log_contents import DeviceLog, LogError

_MOST_RECORDS, _MOST_RUNS = 10_000, 100
_LONGEST_TEXT = 1_000
"""Number of characters of a text in a record. Each record of a file repeats the texts of the file."""
_CPU = "CPU"
_NOT_LOADED = ("compile_failed", "engine_create_failed", "load_failed")
"""Classes of failure that say that the accelerator did not take the model. Others are failures of the device or of the run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The identity of a recorded run. Texts are empty, and the operator is None, if the record does not say them."""

    file: str
    model: str
    delegate: str
    """The name of the delegate, or "" if the recorded accelerator is not simulated."""
    accelerator: str
    release: str
    sha256: str = ""
    operator: str | None = None
    """The operator, if the record is about an operator and not about a model."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded results of a run. A value is None if the record does not state it."""

    loads: bool | None = None
    nodes: int | None = None
    delegated: int | None = None
    is_whole: bool | None = None
    operators: Counter[str] | None = None
    is_right: bool | None = None
    """Whether the outputs are those of the CPU."""
    accepts: bool | None = None
    """Whether the delegate takes some nodes of the operator."""
    log: DeviceLog | None = None


Record = tuple[Asked, Recorded]
_Kind = TypeVar("_Kind")


def read_records(path: str) -> list[Record]:
    """Return the records in a file. Raises LogError if the file cannot be read or has no records."""
    try:
        records = list(_records(path))
    except OSError as error:
        raise LogError(printable(f"{path}: {error.strerror or error}")) from error
    except LimitError as error:
        raise LogError(printable(f"{path}: {error.reason}")) from error
    except (ValueError, RecursionError) as error:
        raise LogError(printable(f"{path}: is not valid JSON, or a value has not the type of the published schema")) from error
    if not records:
        raise LogError(printable(f"{path}: has no records"))
    return records


def _records(path: str) -> Iterator[Record]:
    content = read_whole(path)
    document = json_text.loads(content.decode("utf-8-sig"), "reading records") if content.lstrip()[:1] == b"{" else None
    document = document if isinstance(document, dict) else {}
    if {"artifact", "results"} <= document.keys():
        yield from [_device_run(path, document, entry) for entry in _entries(document, "results", _MOST_RECORDS)]
    elif {"backend", "entries"} <= document.keys():
        yield from [_matrix_entry(path, document, entry) for entry in _entries(document, "entries", _MOST_RECORDS)]
    elif "execution_detail" in document:
        yield _profile(path, _entries(document, "execution_detail"))
    else:
        logs = read_runs_file(path)
        _ensure_few(len(logs), _MOST_RUNS, "runs in a log")
        for log in logs:
            yield Asked(path, _base_name(log.graph), "", "", ""), Recorded(log=log)


def _device_run(path: str, document: Mapping[str, Any], entry: Mapping[str, Any]) -> Record:
    environment = _value(entry, "env", dict) or {}
    accelerator, release = _text(entry, "accelerator"), _text(environment, "runtime_version")
    is_bundle = _value(environment, "runtime", str) == "litert-lm"
    loads, failure = _value(entry, "loads", bool), _value(entry, "failure_class", str)
    asked = Asked(
        path,
        _base_name(_text(document, "artifact")),
        "" if is_bundle else _delegate(accelerator),
        accelerator,
        f"litert-{release}",
        _text(document, "artifact_sha256"),
    )
    return asked, Recorded(
        loads=loads if loads or failure in _NOT_LOADED else None,
        nodes=_value(entry, "total_ops", int),
        delegated=_value(entry, "delegated_ops", int),
        is_whole=_value(entry, "full_delegation", bool),
        is_right=_value(entry, "output_match", bool),
    )


def _matrix_entry(path: str, document: Mapping[str, Any], entry: Mapping[str, Any]) -> Record:
    backend, status = _text(document, "backend"), _text(entry, "status")
    is_general = not any(entry.get(key) for key in ("conditions", "constraints", "dtypes"))
    accepts = _ACCEPTS.get(status) if _value(entry, "provenance", str) == "measured" else None
    release, operator = f"litert-{_text(document, 'litert_version')}", _text(entry, "op")
    asked = Asked(path, "", _delegate(backend), backend, release, operator=operator)
    return asked, Recorded(accepts=accepts if accepts or is_general else None)


def _profile(path: str, entries: list[dict[str, Any]]) -> Record:
    """Return the record of a profile of Qualcomm AI Hub, which does not name the model and the release."""
    units = Counter([_text(entry, "compute_unit") for entry in entries])
    accelerators = sorted(units.keys() - {_CPU})
    accelerator = accelerators[0] if len(accelerators) == 1 else ", ".join(accelerators)
    delegated = [entry for entry in entries if _value(entry, "compute_unit", str) != _CPU]
    operators = Counter([_text(entry, "type") for entry in delegated])
    asked = Asked(path, "", COMPUTE_UNITS.get(accelerator, ""), accelerator, "")
    return asked, Recorded(nodes=len(entries), delegated=len(delegated), operators=operators)


_ACCEPTS = {"delegated": True, "partial": True, "incorrect": True, "fallback": False}
"""Whether the delegate takes nodes of an operator, for each status of edge-compat's matrix. Others do not say."""


def _delegate(accelerator: str) -> str:
    return ACCELERATORS.get(accelerator.partition("_")[0], "")


def _text(entry: Mapping[str, Any], key: str) -> str:
    return _value(entry, key, str) or ""


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _entries(document: Mapping[str, Any], key: str, limit: int | None = None) -> list[dict[str, Any]]:
    entries = _value(document, key, list) or []
    if limit is not None:
        _ensure_few(len(entries), limit, "records")
    if not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(key)
    return entries


def _ensure_few(count: int, limit: int, what: str) -> None:
    if count > raised(limit):
        raise LimitError(f"{count:,} {what} are more than the limit of {raised(limit):,}{how_to_raise()}")


def _value(entry: Mapping[str, Any], key: str, kind: type[_Kind]) -> _Kind | None:
    value = entry.get(key)
    if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise ValueError(key)
    if isinstance(value, str) and len(value) > raised(_LONGEST_TEXT):
        raise LimitError(f"a text of a record has more than {raised(_LONGEST_TEXT):,} characters{how_to_raise()}")
    return value
