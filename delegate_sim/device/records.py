"""The comparison of recorded device runs with predictions, which use only what identifies a run (``Asked``)."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..delegates.options import parse_options
from ..delegates.registry import find_delegate
from ..errors import DelegateSimError, OptionError
from ..foundation.columns import INTEGER, LIST, Column, Declared, attributes
from ..foundation.files import open_input
from ..graph.effort import SIMULATION, Effort, SharedEffort
from ..model.model import Model
from ..model.reader import load
from ..releases.catalogue import NEWEST, parse_release
from ..results.report.measures import NOT_RUNNING, Measures, measure
from ..runtime.interpreter import simulate
from ..runtime.target import Target
from .compare.reconcile import EXPLAINED, NOT_COMPARED, REPRODUCED, reconcile
from .parse.log_contents import DeviceLog, ReconcileError
from .record_files import Asked, Record, Recorded

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
    by_model = sorted(range(len(records)), key=lambda number: predictions.path_of(records[number][0].model))
    scores = {number: predictions.score(*records[number]) for number in by_model}
    return Scoreboard(tuple([scores[number] for number in range(len(records))]))


class _Predictions:
    """Predictions for records, one for each model and target. Records beyond a model's limit on simulations are not compared."""

    def __init__(self, models: Mapping[str, str], delegate: str | None, release: str | None) -> None:
        self.models, self.delegate, self.release = models, delegate, release
        self.only = next(iter(models.values())) if len(models) == 1 else ""
        # The records of a model come one after another.
        self.model = functools.lru_cache(maxsize=1)(_loaded)
        self.digest = functools.lru_cache(maxsize=1)(_digest)
        self.known: dict[tuple[str, str, str], Predicted | None] = {}

    def path_of(self, name: str) -> str:
        return self.models.get(name, "" if name else self.only)

    def score(self, asked: Asked, recorded: Recorded) -> RecordScore:
        release = asked.release or self.release or NEWEST.name
        subject = asked.operator if asked.operator is not None else asked.model
        accelerator = asked.accelerator
        try:
            if recorded.log is not None:
                values, accelerator, release = self._log(asked, recorded.log)
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
        target, path = self._target(asked, release), self.path_of(asked.model)
        model, effort = self._model(path, asked.sha256)
        key = (path, target.delegate.name, target.release.name)
        if key not in self.known:
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

    def _model(self, path: str, sha256: str = "") -> tuple[Model, Effort]:
        if not path:
            raise _NotCompared(NO_MODEL)
        if sha256 and self.digest(path) != sha256:
            raise _NotCompared(OTHER_MODEL)
        if (loaded := self.model(path)) is None:
            raise _NotCompared(UNREADABLE)
        return loaded

    def _operator(self, asked: Asked, recorded: Recorded) -> list[ComparedValue]:
        target = self._target(asked, asked.release)
        rule = target.delegate.rules_for(target.options).rule_of(asked.operator or "")
        accepts = rule is not None and (rule.introduced is None or rule.introduced <= target.release)
        difference = ACCEPTED_ONLY_PREDICTED if accepts else REFUSED_ONLY_PREDICTED
        return [] if recorded.accepts is None else [_values("operator", accepts, recorded.accepts, difference)]

    def _log(self, asked: Asked, log: DeviceLog) -> tuple[list[ComparedValue], str, str]:
        model, effort = self._model(self.models.get(asked.model, self.only))
        self._spend(effort, 1)
        try:
            result = reconcile(model, log, effort=effort)
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


def _loaded(path: str) -> tuple[Model, Effort] | None:
    try:
        model = load(path)
        effort = Effort(model, whole=SharedEffort())
        effort.require(SIMULATION)
    except DelegateSimError:
        return None
    return model, effort


def _digest(path: str) -> str:
    try:
        with open_input(path) as file:
            digest = hashlib.sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
            return digest.hexdigest()
    except OSError:
        return ""
