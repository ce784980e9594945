"""The comparison of recorded device runs with predictions, from JSON of edge-compat and of Qualcomm AI Hub, and from logs.

The schemas are ``schemas/device_run_result.schema.json`` and ``schemas/matrix.schema.json`` of john-rocky/edge-compat, and the
result of ``ProfileJob.download_profile`` of the package qai-hub. The prediction uses only what identifies the run (``Asked``).
Only afterwards, it is compared with the recorded values.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ..delegates.options import parse_options
from ..delegates.registry import ACCELERATORS, COMPUTE_UNITS, find_delegate
from ..errors import DelegateSimError, LimitError, OptionError
from ..foundation.columns import INTEGER, LIST, Column, Declared, attributes
from ..foundation.files import open_input, read_whole
from ..foundation.limits import how_to_raise, raised
from ..foundation.parsing import json_text
from ..foundation.printable import printable
from ..graph.effort import SIMULATION, Effort, SharedEffort
from ..model.model import Model
from ..model.reader import load
from ..releases.catalogue import NEWEST, parse_release
from ..results.report.measures import NOT_RUNNING, Measures, measure
from ..runtime.interpreter import simulate
from ..runtime.target import Target
from .compare.reconcile import EXPLAINED, NOT_COMPARED, REPRODUCED, reconcile
from .parse.log import read_runs_file
from .parse.log_contents import DeviceLog, LogError, ReconcileError

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


EQUAL, DIFFERENT = "equal", "different"
FAILS_ONLY_PREDICTED, FAILS_ONLY_RECORDED = "fails-only-predicted", "fails-only-recorded"
MORE_PREDICTED, FEWER_PREDICTED, OTHER_OPERATORS = "more-nodes-predicted", "fewer-nodes-predicted", "other-operators"
WRONG_ONLY_PREDICTED, WRONG_ONLY_RECORDED = "wrong-only-predicted", "wrong-only-recorded"
ACCEPTED_ONLY_PREDICTED, REFUSED_ONLY_PREDICTED = "accepted-only-predicted", "refused-only-predicted"
LOG_EXPLAINED, LOG_UNEXPLAINED = "log-explained", "log-unexplained"
NO_MODEL, OTHER_MODEL, UNREADABLE = "no-model", "other-model", "unreadable-model"
NOT_SIMULATED, UNKNOWN_RELEASE, STATES_NOTHING = "not-simulated", "unknown-release", "states-nothing"
TOO_MANY = "too-many-simulations"

_NOT_COMPARED_CLASSES = (NO_MODEL, OTHER_MODEL, UNREADABLE, NOT_SIMULATED, UNKNOWN_RELEASE, STATES_NOTHING, TOO_MANY)
"""The classes of records that are not compared. All others are classes of differences."""


@dataclass(frozen=True, slots=True)
class ComparedValue(Declared):
    """A value that was predicted and recorded. ``difference`` is its class, or "" if both are equal."""

    columns = attributes("value", "predicted", "recorded", "difference")

    value: str
    predicted: str
    recorded: str
    difference: str


@dataclass(frozen=True, slots=True)
class RecordScore(Declared):
    """A record, and its comparison. ``status`` is ``equal``, ``different`` or ``not-compared``."""

    columns = (
        *attributes("file", "subject", "accelerator", "release", "status", "reason"),
        Column("values", LIST, parts=ComparedValue.columns),
    )

    file: str
    subject: str
    """The name of the model, or the operator."""
    accelerator: str
    release: str
    status: str
    reason: str
    """The class of a record that is not compared, or ""."""
    values: tuple[ComparedValue, ...]


@dataclass(frozen=True, slots=True)
class Scoreboard(Declared):
    """All records and their comparisons."""

    document = "scoreboard"
    columns = (
        Column("equal", INTEGER, source=lambda own: own.count(EQUAL)),
        Column("different", INTEGER, source=lambda own: own.count(DIFFERENT)),
        Column("not_compared", INTEGER, source=lambda own: own.count(NOT_COMPARED)),
        Column("records", LIST, source="scores", parts=RecordScore.columns),
    )

    scores: tuple[RecordScore, ...]

    def count(self, status: str) -> int:
        """Return the number of records with a status."""
        return sum(score.status == status for score in self.scores)

    @property
    def classes(self) -> Counter[str]:
        """The number of records for each class of difference and each reason."""
        names = [name for score in self.scores for name in {score.reason, *[part.difference for part in score.values]}]
        return Counter(filter(None, names))


class Predicted(NamedTuple):
    """The predicted values of a run, and how many nodes of each operator are delegated."""

    measures: Measures
    operators: Counter[str]


class _NotCompared(Exception):
    pass


def score_records(
    records: Sequence[Record], models: Mapping[str, str], delegate: str | None = None, release: str | None = None
) -> Scoreboard:
    """Compare records with predictions. Raises OptionError for an unknown delegate or release.

    ``models`` has the path of each model by its file name; the only one is used for records without a name. ``delegate`` and
    ``release`` are for records that do not name them.
    """
    if release is not None:
        parse_release(release)
    predictions = _Predictions(models, delegate, release)
    only = next(iter(models.values()), "")
    by_model = sorted(range(len(records)), key=lambda number: models.get(records[number][0].model, only))
    scores = {number: predictions.score(*records[number]) for number in by_model}
    return Scoreboard(tuple([scores[number] for number in range(len(records))]))


class _Predictions:
    """Predictions for records, one for each model and target. Records beyond a model's limit on simulations are not compared."""

    def __init__(self, models: Mapping[str, str], delegate: str | None, release: str | None) -> None:
        self.models, self.delegate, self.release = models, delegate, release
        self.efforts: dict[str, SharedEffort] = defaultdict(SharedEffort)
        self.loaded: tuple[str, Model, Effort] | None = None
        self.unreadable: set[str] = set()
        self.known: dict[tuple[str, str, str], Predicted | None] = {}
        self.digests: dict[str, str] = {}

    def score(self, asked: Asked, recorded: Recorded) -> RecordScore:
        release = asked.release or self.release or NEWEST.name
        subject = asked.operator if asked.operator is not None else asked.model
        accelerator = asked.accelerator
        try:
            if recorded.log is not None:
                values, accelerator, release = self._log(asked, recorded)
            elif asked.operator is not None:
                values = self._operator(asked, recorded)
            else:
                values = list(_compared(self._predict(asked, release), recorded))
            if not values:
                raise _NotCompared(STATES_NOTHING)
        except _NotCompared as reason:
            return RecordScore(asked.file, subject, accelerator, release, NOT_COMPARED, str(reason), ())
        differences = [part.difference for part in values if part.difference]
        other = next((difference for difference in differences if difference in _NOT_COMPARED_CLASSES), "")
        status = NOT_COMPARED if other else DIFFERENT if differences else EQUAL
        return RecordScore(asked.file, subject, accelerator, release, status, other, tuple(values))

    def _target(self, asked: Asked, release: str) -> Target:
        name = asked.delegate or ("" if asked.accelerator else self.delegate or "")
        if not name:
            raise _NotCompared(NOT_SIMULATED)
        delegate = find_delegate(name)
        try:
            known = parse_release(release)
        except OptionError as error:
            raise _NotCompared(UNKNOWN_RELEASE) from error
        if known.is_after_newest:
            raise _NotCompared(UNKNOWN_RELEASE)
        return Target(delegate, parse_options(name, delegate.options, {}, "api"), known, assume_ops_registered=True)

    def _predict(self, asked: Asked, release: str) -> Predicted:
        target, path = self._target(asked, release), self._path(asked)
        key = (path, target.delegate.name, target.release.name)
        if key not in self.known:
            model, effort = self._model(path)
            self._spend(effort, target.effort)
            try:
                run = simulate(model, target, cache=effort.cache)
                delegated = [subgraph.graph.nodes[index].op for subgraph in run.subgraphs for index in subgraph.delegated]
                self.known[key] = Predicted(measure(run), Counter(delegated))
            except DelegateSimError:
                self.known[key] = None
        if (predicted := self.known[key]) is None:
            raise _NotCompared(UNREADABLE)
        return predicted

    @staticmethod
    def _spend(effort: Effort, simulations: int) -> None:
        if effort.is_over:
            raise _NotCompared(TOO_MANY)
        effort.spend(simulations)

    def _path(self, asked: Asked) -> str:
        only = next(iter(self.models.values())) if not asked.model and len(self.models) == 1 else None
        path = self.models.get(asked.model, only)
        if path is None:
            raise _NotCompared(NO_MODEL)
        if asked.sha256:
            if path not in self.digests:
                self.digests[path] = _digest(path)
            if self.digests[path] != asked.sha256:
                raise _NotCompared(OTHER_MODEL)
        return path

    def _model(self, path: str) -> tuple[Model, Effort]:
        if path in self.unreadable:
            raise _NotCompared(UNREADABLE)
        if self.loaded is None or self.loaded[0] != path:
            try:
                model = load(path)
                effort = Effort(model, whole=self.efforts[path])
                effort.require(SIMULATION)
            except DelegateSimError as error:
                self.unreadable.add(path)
                raise _NotCompared(UNREADABLE) from error
            self.loaded = path, model, effort
        return self.loaded[1:]

    def _operator(self, asked: Asked, recorded: Recorded) -> list[ComparedValue]:
        target = self._target(asked, asked.release)
        rule = target.delegate.rules_for(target.options).rule_of(asked.operator or "")
        accepts = rule is not None and (rule.introduced is None or rule.introduced <= target.release)
        difference = ACCEPTED_ONLY_PREDICTED if accepts else REFUSED_ONLY_PREDICTED
        return [] if recorded.accepts is None else [_values("operator", accepts, recorded.accepts, difference)]

    def _log(self, asked: Asked, recorded: Recorded) -> tuple[list[ComparedValue], str, str]:
        assert recorded.log is not None
        named = asked if asked.model in self.models else Asked(asked.file, "", "", "", "")
        model, effort = self._model(self._path(named))
        self._spend(effort, 1)
        try:
            result = reconcile(model, recorded.log, effort=effort)
        except ReconcileError as error:
            raise _NotCompared(OTHER_MODEL) from error
        except DelegateSimError as error:
            raise _NotCompared(NOT_SIMULATED) from error
        if result.counts_agree is False:
            raise _NotCompared(OTHER_MODEL)
        if result.status == NOT_COMPARED:
            return [], result.setting.delegate.name, result.run.release.name
        difference = {REPRODUCED: "", EXPLAINED: LOG_EXPLAINED}.get(result.status, LOG_UNEXPLAINED)
        counts = ComparedValue("log", str(result.simulated.delegated), str(result.device.delegated), difference)
        return [counts], result.setting.delegate.name, result.run.release.name


def _compared(predicted: Predicted, recorded: Recorded) -> Iterator[ComparedValue]:
    measures = predicted.measures
    is_running = measures.outcome not in NOT_RUNNING
    if recorded.loads is not None:
        difference = FAILS_ONLY_RECORDED if is_running else FAILS_ONLY_PREDICTED
        yield _values("runs", is_running, recorded.loads, difference)
    if not is_running or recorded.loads is False:
        return
    if recorded.nodes is not None and recorded.nodes != measures.nodes:
        yield ComparedValue("nodes", str(measures.nodes), str(recorded.nodes), OTHER_MODEL)
        return
    delegated = measures.delegated_nodes
    if recorded.delegated is not None:
        difference = MORE_PREDICTED if delegated > recorded.delegated else FEWER_PREDICTED
        yield _values("delegated nodes", delegated, recorded.delegated, difference)
    elif recorded.is_whole is not None:
        is_whole, difference = delegated == measures.nodes, MORE_PREDICTED if delegated == measures.nodes else FEWER_PREDICTED
        yield _values("all nodes delegated", is_whole, recorded.is_whole, difference)
    if recorded.operators is not None and recorded.delegated == delegated:
        yield _values("operators", predicted.operators, recorded.operators, OTHER_OPERATORS)
    if recorded.is_right is not None:
        may_be_wrong, is_wrong = measures.possibly_wrong_results, measures.wrong_results
        if is_wrong is not None and (not may_be_wrong or is_wrong):  # "may be wrong" contradicts no record
            difference = WRONG_ONLY_PREDICTED if is_wrong else WRONG_ONLY_RECORDED
            yield _values("right outputs", not is_wrong, recorded.is_right, difference)


def _values(value: str, predicted: object, recorded: object, difference: str) -> ComparedValue:
    return ComparedValue(value, _words(predicted), _words(recorded), "" if predicted == recorded else difference)


def _words(value: object) -> str:
    if isinstance(value, Counter):
        return ", ".join([f"{name} {count}" for name, count in sorted(value.items())])
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def _digest(path: str) -> str:
    try:
        with open_input(path) as file:
            digest = hashlib.sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
            return digest.hexdigest()
    except OSError:
        return ""
