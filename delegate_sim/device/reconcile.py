"""What a device did to a model, as its log says, beside what is simulated; and what explains the difference.

>>> from delegate_sim.device_log import read_log_file
>>> from delegate_sim.reconcile import reconcile
>>> reconcile(delegate_sim.load("model.tflite"), read_log_file("device.txt")).status  # doctest: +SKIP
'explained'
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from types import MappingProxyType
from typing import Any, NamedTuple

from ..delegates.base import PARTITION_LIMIT_CODE, Delegate, Options
from ..delegates.driver import Driver, signature
from ..delegates.nnapi.delegate import NnapiDelegate, driver_questions
from ..delegates.nnapi.target import FEATURE_LEVELS, NNAPI_1_2
from ..delegates.registry import DELEGATE_NAMES, find_delegate
from ..errors import DelegateSimError
from ..graph.graph import Graph, NodeView
from ..model.model import Model
from ..model.schema import is_operator
from ..options import boolean, parse_options
from ..releases.catalogue import DEFAULT_RELEASE, RELEASES, Release, parse_release, replacing_line
from ..results.rule_set import rule_set_version
from ..runtime.interpreter import Run, option_values, simulate
from ..version import __version__
from .log import DeviceLog, Replacement, Row, read_lines

SCHEMA = "delegate-sim/reconcile/1"

REPRODUCED, EXPLAINED, UNEXPLAINED = "reproduced", "explained", "unexplained"

DRIVER, LIMIT, UNDECIDED, REFUSED = "driver", "limit", "undecided", "refused"
"""Why a node ran on the CPU: the driver rejected it, a limit dropped its partition, one of these, the delegate refused it."""

_LIMITS = ("max_number_delegated_partitions", "max_delegated_partitions")
_MOST_LIMITS = 16
_MOST_ATTEMPTS = 256
_MOST_KINDS = 12
_XNNPACK = "xnnpack"


class ReconcileError(DelegateSimError):
    """A log that is not of the model, or that does not say what was applied to it."""


@dataclass(frozen=True)
class Setting:
    """What a log shows was applied, or what it was overridden with."""

    delegate: Delegate
    options: Options
    known: frozenset[str]
    """Options that the log or the caller gives; the others have the values of ``defaults``."""
    releases: tuple[Release, ...]
    """The releases whose wording fits; the simulation words its lines as the last of them does."""
    defaults: str
    lowest_level: int
    """The lowest feature level that the log leaves possible."""
    notes: tuple[str, ...] = ()

    @property
    def release(self) -> Release:
        """The release that is simulated."""
        default = parse_release(DEFAULT_RELEASE)
        return default if default in self.releases else self.releases[-1]


class Side(NamedTuple):
    """What one of the two, device and simulation, did in all subgraphs. What is not known is None."""

    lines: tuple[str, ...]
    delegated: int | None
    partitions: int | None
    kernels: int | None
    on_cpu: int | None


class NodeFinding(NamedTuple):
    """A node that ran on the CPU, and why; ``accepted`` says whether the delegate's own rules take it."""

    subgraph: int
    node: int
    op: str
    cause: str
    accepted: bool


class OperatorFinding(NamedTuple):
    """Refusals of one operator that only one side has: how many lines the device's log has, and how many are simulated."""

    op: str
    version: int
    on_device: int
    simulated: int


@dataclass(frozen=True)
class Explanation:
    """Under which assumptions the simulation does the same as the device.

    ``kind`` is ``options``, ``driver``, ``compilation`` or ``driver-profile``; ``options`` are those that were changed.
    ``rejected`` are the nodes that the driver rejects, by subgraph, ``undecided`` those of which the log does not tell whether
    the driver rejected them.
    """

    kind: str
    text: str
    options: Mapping[str, Any]
    rejected: Mapping[int, frozenset[int]]
    undecided: Mapping[int, frozenset[int]]
    is_certain: bool = True
    """Whether nothing else was found that explains it as well."""


@dataclass(frozen=True)
class Reconciliation:
    """What was found. ``to_dict`` gives the stable form."""

    model: Model
    log: DeviceLog
    setting: Setting
    status: str
    device: Side
    simulated: Side
    differences: tuple[str, ...]
    """What differs before anything is assumed."""
    explanation: Explanation | None
    nodes: tuple[NodeFinding, ...]
    operators: tuple[OperatorFinding, ...]
    feature_levels: tuple[int, ...]
    """The feature levels at which the simulation does the same without a driver that rejects anything."""
    evidence: str
    """What told which nodes ran on the CPU: ``run-order``, ``node-types``, ``partial`` or ``lines``."""
    notes: tuple[str, ...]
    run: Run
    """The simulation that fits best."""

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data (schema ``delegate-sim/reconcile/1``)."""
        setting = self.setting
        return {
            "schema": SCHEMA,
            "tool": {"name": "delegate-sim", "version": __version__},
            "model": {"path": self.model.path, "sha256": self.model.sha256},
            "status": self.status,
            "delegate": setting.delegate.name,
            "rule_set": rule_set_version(setting.delegate),
            "runtimes": [str(release) for release in setting.releases],
            "options": option_values(setting.options),
            "options_known": sorted(setting.known),
            "defaults": setting.defaults,
            "device": _side_entry(self.device),
            "simulated": _side_entry(self.simulated),
            "differences": list(self.differences),
            "evidence": self.evidence,
            "explanation": None if self.explanation is None else _explanation_entry(self.explanation),
            "nodes": [finding._asdict() for finding in self.nodes],
            "operators": [finding._asdict() for finding in self.operators],
            "feature_levels": list(self.feature_levels),
            "notes": list(self.notes),
        }


def _side_entry(side: Side) -> dict[str, Any]:
    return {**side._asdict(), "lines": list(side.lines)}


def _explanation_entry(explanation: Explanation) -> dict[str, Any]:
    return {
        "kind": explanation.kind,
        "text": explanation.text,
        "options": option_values({name: value for name, value in explanation.options.items() if not _is_hypothesis(value)}),
        "rejected": [{"subgraph": index, "nodes": sorted(nodes)} for index, nodes in explanation.rejected.items()],
        "undecided": [{"subgraph": index, "nodes": sorted(nodes)} for index, nodes in explanation.undecided.items()],
        "is_certain": explanation.is_certain,
    }


def _is_hypothesis(value: object) -> bool:
    return isinstance(value, RejectedNodes)


class RejectedNodes(Driver):
    """A driver that rejects certain nodes, whatever they are: what a log shows of it."""

    def __init__(self, nodes: Mapping[int, Iterable[int]], beside: Driver | None = None) -> None:
        self.nodes = {subgraph: frozenset(indices) for subgraph, indices in nodes.items()}
        self.beside = beside

    def __str__(self) -> str:
        return "as the log shows"

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Whether the node is one of them, or the driver beside them rejects the operation."""
        if view.node.index in self.nodes.get(view.graph.index, ()):
            return True
        return self.beside is not None and self.beside.rejects(operation, view)


_FLAGS = {
    "max number of delegated partitions": "max_delegated_partitions",
    "min nodes per partition": "min_nodes_per_partition",
    "index of the first node that could be delegated": "first_delegate_node_index",
    "index of the last node that could be delegated": "last_delegate_node_index",
    "nnapi accelerator name": "nnapi_accelerator_name",
    "disable nnapi cpu": "disable_nnapi_cpu",
    "disallow nnapi cpu": "disable_nnapi_cpu",
    "allow fp16 in nnapi": "nnapi_allow_fp16",
    "allow dynamic dimensions in nnapi": "nnapi_allow_dynamic_dimensions",
    "enable running quant models in gpu": "gpu_experimental_enable_quant",
    "gpu backend": "gpu_backend",
    "coreml version": "coreml_version",
    "xnnpack_force_fp16": "xnnpack_force_fp16",
}
"""The flag of benchmark_model behind each description that it prints."""

_SWITCHES = {
    "use nnapi": "nnapi",
    "use gpu": "gpu",
    "use coreml": "coreml",
    "use hexagon": "hexagon",
    "external delegate path": "vx",
    "use xnnpack": _XNNPACK,
}
_DEVICES = "nnapi accelerators available"


def setting_of(
    log: DeviceLog,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str | None = None,
) -> Setting:
    """Return what a log shows was applied; the other arguments override it.

    Raises ReconcileError if it does not show a delegate, OptionError for an unknown delegate, option, value or release.
    """
    chosen = find_delegate(delegate) if delegate is not None else _delegate_in(log)
    given = dict(options or {})
    notes: list[str] = []
    for description, value in log.parameters.items():
        flag = _FLAGS.get(description.strip())
        for option in chosen.options:
            if flag is not None and option.flag == flag and option.name not in given:
                parsed = _printed(option.name, value, chosen, notes)
                if parsed is not None:
                    given[option.name] = parsed
    defaults = defaults or ("benchmark" if log.is_benchmark else "api")
    values = parse_options(chosen.name, chosen.options, given, defaults)
    known = frozenset(given)
    if log.is_benchmark and log.parameters:  # benchmark_model prints what is set
        known |= frozenset(_LIMITS).intersection(values)
    releases = _releases(log, runtime, notes)
    lowest = NNAPI_1_2 if _DEVICES in log.parameters else FEATURE_LEVELS[0]
    return Setting(chosen, values, known, releases, defaults, lowest, tuple(notes))


def _delegate_in(log: DeviceLog) -> Delegate:
    """Return the delegate that the application applied: XNNPACK only if there is no other."""
    delegates = [find_delegate(name) for name in DELEGATE_NAMES]
    names = [replacement.kernel for replacement in log.replacements]
    names += [application.provider for application in log.applications]
    names += [row.op for table in log.run_orders.values() for row in table.rows]
    names += [op for summary in log.summaries.values() for op in summary.counts]
    mentioned = set(names)
    found = [each for each in delegates if not {each.kernel_name, each.provider_name}.isdisjoint(mentioned)]
    if not found:
        used = {name for description, name in _SWITCHES.items() if log.parameters.get(description, "0") not in ("", "0", "false")}
        found = [each for each in delegates if each.name in used or each.provider_name in log.created]
    if not found and log.refusals:
        found = [find_delegate("nnapi")]
    if not found:
        raise ReconcileError("the log does not show which delegate was applied; give --delegate")
    return next((each for each in found if each.name != _XNNPACK), found[0])


def _printed(name: str, text: str, delegate: Delegate, notes: list[str]) -> str | None:
    """Return the value of an option as benchmark_model printed it; None if it is not set or not one."""
    if not text.strip():
        return None
    option = next(option for option in delegate.options if option.name == name)
    try:
        if option.parse is boolean:
            return str(boolean(text)).lower()
        option.parse(text)
    except (ValueError, TypeError) as error:
        notes.append(f"the log's value of {name} is left out: it {error}")
        return None
    return text


def _releases(log: DeviceLog, runtime: str | None, notes: list[str]) -> tuple[Release, ...]:
    """Return the releases that would word the log's lines like this, or the one that was asked for."""
    known = [parse_release(name) for name in RELEASES]
    fitting = [release for release in known if all(_words(release, each) for each in log.replacements)]
    if runtime is not None:
        release = parse_release(runtime)
        if log.replacements and not all(_words(release, each) for each in log.replacements):
            notes.append(f"{release} would word the log's lines otherwise")
        return (release,)
    if not fitting:
        notes.append("the log's lines are worded as by no release known here")
        fitting = known
    if log.tensorflow_version is not None:
        minor = tuple(int(part) for part in log.tensorflow_version.split(".")[:2])
        exact = [release for release in fitting if release.family == "tf" and release.version[:2] == minor]
        if exact:
            return tuple(exact)
        notes.append(f"the log names TensorFlow {log.tensorflow_version}, whose wording is not known or another one")
    return tuple(fitting)


def _words(release: Release, replacement: Replacement) -> bool:
    line = replacing_line(
        release,
        replaced=replacement.replaced,
        total=replacement.total if replacement.total is not None else -1,
        kernel=replacement.kernel,
        partitions=replacement.partitions,
        subgraph=replacement.subgraph if replacement.subgraph is not None else -1,
        name=replacement.name if replacement.name is not None else "\0",
    )
    return line.rstrip(".") == replacement.line.rstrip(".")


@dataclass(frozen=True)
class _Facts:
    """What the log says of the delegate, as far as it can be compared. None and absent keys are not known."""

    replacements: tuple[Replacement, ...] | None
    application: tuple[str, int | None] | None
    dynamic: int | None
    is_restored: bool
    on_cpu: Mapping[int, frozenset[int]]
    """Nodes on the CPU of the subgraphs whose table is complete."""
    listed: Mapping[int, frozenset[int]]
    """Nodes that are known to have run on the CPU where the table is not complete."""
    counts: Mapping[int, Mapping[str, int]]
    """Nodes on the CPU by operator, where only those are known."""
    kernels: Mapping[int, int]
    refusals: Mapping[tuple[str, int], int]
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def evidence(self) -> str:
        if self.on_cpu:
            return "run-order"
        if self.counts:
            return "node-types"
        return "partial" if self.listed else "lines"


def _facts(log: DeviceLog, delegate: Delegate, graphs: Sequence[Graph]) -> _Facts:
    notes: list[str] = []
    own = tuple(each for each in log.replacements if each.kernel == delegate.kernel_name)
    applications = [each for each in log.applications if each.provider == delegate.provider_name]
    application = applications[-1] if applications else None
    other_kernels = {find_delegate(name).kernel_name for name in DELEGATE_NAMES} - {delegate.kernel_name}
    others = [each for each in log.replacements if each.kernel in other_kernels]
    on_cpu: dict[int, frozenset[int]] = {}
    listed: dict[int, frozenset[int]] = {}
    counts: dict[int, Mapping[str, int]] = {}
    kernels: dict[int, int] = {}
    hidden = sum([each.replaced for each in others])
    for index, table in log.run_orders.items():
        if index >= len(graphs):
            raise ReconcileError(f"the log lists nodes of subgraph {index}, which the model does not have: is it of this model?")
        own_rows = [row for row in table.rows if row.op == delegate.kernel_name]
        rest = [row for row in table.rows if row.op != delegate.kernel_name]
        rows = [row for row in rest if row.op not in other_kernels and not row.outputs.startswith("Delegate/")]
        foreign = len(rest) - len(rows)
        nodes = _matched(graphs[index], rows)
        if table.is_complete and not foreign and not hidden and not log.lost_events:
            on_cpu[index], kernels[index] = nodes, len(own_rows)
        else:
            listed[index] = nodes
            if foreign or hidden:
                notes.append(_HIDDEN)
            else:
                notes.append(f"the table of subgraph {index} is cut short: nodes that it does not list are not known")
    for index, summary in log.summaries.items():
        if index in on_cpu or index >= len(graphs):
            continue
        available = Counter(_shown_op(graphs[index], node) for node in graphs[index].execution_plan)
        known = {delegate.kernel_name, *available}
        foreign = sum([op in other_kernels or not (op in known or is_operator(op)) for op in summary.counts])
        if not summary.is_complete or hidden or foreign:
            notes.append(_HIDDEN if summary.is_complete else f"the summary of subgraph {index} is cut short and left out")
            continue
        counts[index] = {op: count for op, count in summary.counts.items() if op != delegate.kernel_name}
        kernels[index] = summary.counts.get(delegate.kernel_name, 0)
        if any(count > available[op] for op, count in counts[index].items()):
            raise ReconcileError(f"the log's summary lists operators that subgraph {index} does not have: is it of this model?")
    refusals: Counter[tuple[str, int]] = Counter()
    for refusal in log.refusals:
        refusals[refusal.op, refusal.version] += refusal.times
    lines = [each.line for each in own] + ([application.line] if application else [])
    return _Facts(
        own if log.replacements else None,
        (application.outcome, application.kernels) if application else None,
        log.dynamic_tensor,
        log.is_restored,
        on_cpu,
        listed,
        counts,
        kernels,
        refusals,
        tuple(lines),
        tuple(dict.fromkeys(notes)),
    )


_HIDDEN = (
    "another delegate ran nodes that this one left, so that the tables do not list them: take the log with --use_xnnpack=false"
)


def _shown_op(graph: Graph, node: int) -> str:
    return graph.nodes[node].op


def _matched(graph: Graph, rows: Sequence[Row]) -> frozenset[int]:
    """Find the node of each row: by its index, else by its outputs, else the next one of its operator."""
    taken: set[int] = set()
    by_outputs: dict[tuple[str, str], list[int]] = {}
    for index in graph.execution_plan:
        node = graph.nodes[index]
        names = ", ".join([graph.tensors[tensor].name if tensor >= 0 else "Unknown" for tensor in node.outputs])
        by_outputs.setdefault((node.op, _spaced(names)), []).append(index)
    plan = set(graph.execution_plan)
    rest: list[Row] = []
    for row in rows:
        if row.node is not None and row.node in plan and graph.nodes[row.node].op == row.op and row.node not in taken:
            taken.add(row.node)
            continue
        candidates = by_outputs.get((row.op, _spaced(row.outputs)), [])
        while candidates and candidates[0] in taken:
            candidates.pop(0)
        if candidates:
            taken.add(candidates.pop(0))
        else:
            rest.append(row)
    following = _in_order(graph) if rest else {}
    for row in rest:
        found = next((index for index in following.get(row.op, iter(())) if index not in taken), None)
        if row.node is not None or found is None:
            place = "" if row.node is None else f" as node {row.node}"
            raise ReconcileError(
                f"the log lists {row.op}{place} of subgraph {graph.index}, which the model does not have: is it of this model?"
            )
        taken.add(found)
    return frozenset(taken)


def _in_order(graph: Graph) -> dict[str, Iterator[int]]:
    """Return the nodes of each operator in running order."""
    found: dict[str, list[int]] = {}
    for index in graph.execution_plan:
        found.setdefault(graph.nodes[index].op, []).append(index)
    return {op: iter(indices) for op, indices in found.items()}


def _spaced(names: str) -> str:
    return " ".join(names.replace(",", " ").split())


def _differences(facts: _Facts, run: Run) -> list[str]:
    """Say where a simulation differs from what the log says."""
    simulated = read_lines(run.log_lines)
    found = [*_line_differences(facts, run, simulated), *_node_differences(facts, run)]
    operators = _operator_findings(facts, run)
    if operators:
        found.append(f"refusals differ for {', '.join(dict.fromkeys(each.op for each in operators))}")
    return found


def _line_differences(facts: _Facts, run: Run, simulated: DeviceLog) -> Iterator[str]:
    if facts.replacements is not None:
        ours = [_numbers(each) for each in simulated.replacements]
        theirs = [_numbers(each) for each in facts.replacements]
        if not _same_numbers(theirs, ours):
            yield f"the device's lines say {_replaced_text(theirs)}, the simulated ones {_replaced_text(ours)}"
    if (facts.dynamic is None) != (simulated.dynamic_tensor is None):
        who = "the simulation" if facts.dynamic is None else "the device"
        yield f"only {who} refuses the graph for a dynamic-sized tensor"
    if facts.is_restored != (run.outcome == "restored"):
        who = "the device" if facts.is_restored else "the simulation"
        yield f"only {who} restores the original execution plan"
    if facts.application is not None and facts.application != _application(run):
        theirs_text, ours_text = _applied_text(*facts.application), _applied_text(*_application(run))
        yield f"the device applied the delegate {theirs_text}, the simulation {ours_text}"


def _node_differences(facts: _Facts, run: Run) -> Iterator[str]:
    for subgraph in run.subgraphs:
        index = subgraph.graph.index
        ours = frozenset(subgraph.graph.execution_plan) - subgraph.delegated
        place = f" of subgraph {index}" if len(run.subgraphs) > 1 else ""
        if index in facts.on_cpu and facts.on_cpu[index] != ours:
            more, fewer = len(facts.on_cpu[index] - ours), len(ours - facts.on_cpu[index])
            yield f"nodes{place} on the CPU: {more} only on the device, {fewer} only in the simulation"
        if index in facts.listed and not facts.listed[index] <= ours:
            more = len(facts.listed[index] - ours)
            yield f"nodes{place} on the CPU: {more} of those that the log lists are delegated in the simulation"
        if index in facts.counts:
            theirs_counts = facts.counts[index]
            ours_counts = Counter(_shown_op(subgraph.graph, node) for node in ours)
            other = [op for op in {*theirs_counts, *ours_counts} if theirs_counts.get(op, 0) != ours_counts[op]]
            if other:
                text = ", ".join(f"{op} {theirs_counts.get(op, 0)} and {ours_counts[op]}" for op in sorted(other))
                yield f"nodes{place} on the CPU, on the device and in the simulation: {text}"
        if index in facts.kernels and not facts.is_restored:
            kernels = sum([subset.is_delegated for subset in subgraph.subsets])
            if kernels != facts.kernels[index]:
                yield f"delegate kernels{place}: {facts.kernels[index]} on the device, {kernels} in the simulation"


_Numbers = tuple[int, int | None, int, int | None]


def _numbers(replacement: Replacement) -> _Numbers:
    return replacement.replaced, replacement.total, replacement.partitions, replacement.subgraph


def _same_numbers(theirs: Sequence[_Numbers], ours: Sequence[_Numbers]) -> bool:
    """Whether all that both say is the same."""
    return len(theirs) == len(ours) and all(
        a is None or b is None or a == b for one, other in zip(theirs, ours, strict=True) for a, b in zip(one, other, strict=True)
    )


def _replaced_text(numbers: Sequence[_Numbers]) -> str:
    parts = [
        f"{replaced}{'' if total is None else f' of {total}'} nodes in {partitions} partitions"
        for replaced, total, partitions, _ in numbers
    ]
    return "; ".join(parts) or "nothing"


def _application(run: Run) -> tuple[str, int | None]:
    if run.outcome in ("refused", "restored"):
        return "failed", None
    first = run.subgraphs[0]
    kernels = sum([subset.is_delegated for subset in first.subsets])
    if not kernels:
        return "not", 0
    return ("completely" if kernels == len(first.subsets) == 1 else "partially"), kernels


def _applied_text(outcome: str, kernels: int | None) -> str:
    texts = {"failed": "without success", "not": "to no node", "completely": "to the whole graph"}
    return texts.get(outcome, f"with {kernels} delegate kernels")


_WIDENING = "FP16GraphPartitionHelper"


def _operator_findings(facts: _Facts, run: Run) -> tuple[OperatorFinding, ...]:
    """Count refusals by operator and version, and return those that differ; none if the log has no refusals."""
    if not facts.refusals:
        return ()
    ours: Counter[tuple[str, int]] = Counter()
    for subgraph in run.subgraphs:
        if subgraph.decision is None:
            continue
        for index, verdict in subgraph.decision.verdicts.items():
            node = subgraph.graph.nodes[index]
            op = "CUSTOM" if node.is_custom else node.op
            ours[op, node.version] += sum([reason.kind != _WIDENING for reason in verdict.reasons])
    keys = sorted({*facts.refusals, *ours})
    return tuple(
        OperatorFinding(op, version, facts.refusals.get((op, version), 0), ours[op, version])
        for op, version in keys
        if facts.refusals.get((op, version), 0) != ours[op, version]
    )


def reconcile(model: Model, log: DeviceLog, setting: Setting | None = None, profile: Driver | None = None) -> Reconciliation:
    """Simulate what a log shows was applied to a model, and explain what differs.

    ``profile`` is what is known of the driver so far. Raises ReconcileError if the log is not of the model or does not show
    what was applied.
    """
    setting = setting_of(log) if setting is None else setting
    return _Search(model, log, setting, profile).reconcile()


class _Match(NamedTuple):
    """A simulation that does the same as the device."""

    run: Run
    explanation: Explanation


class _Search:
    """Looks for assumptions under which the simulation does the same as the device."""

    def __init__(self, model: Model, log: DeviceLog, setting: Setting, profile: Driver | None) -> None:
        self.model = model
        self.log = log
        self.setting = setting
        self.profile = profile
        self.release = setting.release
        self.first = self.simulate({})
        self.facts = _facts(log, setting.delegate, [subgraph.graph for subgraph in self.first.subgraphs])
        self._choose_release()
        self.is_nnapi = isinstance(setting.delegate, NnapiDelegate)

    def _choose_release(self) -> None:
        """Of the releases whose wording fits, take one whose rules do."""
        if not _differences(self.facts, self.first):
            return
        for release in self.setting.releases:
            self.release = release
            run = self.simulate({})
            if not _differences(self.facts, run):
                self.first = run
                return
        self.release = self.setting.release

    def reconcile(self) -> Reconciliation:
        """Try what needs the fewest assumptions first."""
        differences = _differences(self.facts, self.first)
        levels = self._levels_without_driver() if differences and self.is_nnapi else ()
        match = next(self._attempts(levels), None) if differences else None
        run = self.first if match is None else match.run
        explanation = None if match is None else match.explanation
        status = REPRODUCED if not differences else UNEXPLAINED if match is None else EXPLAINED
        notes = [*self.setting.notes, *self.facts.notes, *self._notes()]
        return Reconciliation(
            self.model,
            self.log,
            self.setting,
            status,
            _device_side(self.facts, self.first),
            _simulated_side(self.first),
            tuple(differences),
            explanation,
            self._nodes(run, explanation),
            _operator_findings(self.facts, self.first),
            levels,
            self.facts.evidence,
            tuple(dict.fromkeys(notes)),
            run,
        )

    def simulate(self, changes: Mapping[str, Any]) -> Run:
        """Apply the delegate with some options changed."""
        options = MappingProxyType({**self.setting.options, **changes})
        return simulate(self.model, self.setting.delegate, options, self.release, self.setting.defaults)

    def fitting(self, changes: Mapping[str, Any]) -> Run | None:
        """Return the simulation if it does the same as the device."""
        run = self.simulate(changes)
        return None if _differences(self.facts, run) else run

    def _levels(self) -> list[int]:
        """Return the feature levels that the log leaves open, the likeliest first."""
        own: int = self.setting.options["feature_level"]
        if "feature_level" in self.setting.known:
            return [own]
        return [own, *[level for level in reversed(FEATURE_LEVELS) if level != own and level >= self.setting.lowest_level]]

    def _levels_without_driver(self) -> tuple[int, ...]:
        return tuple(sorted(level for level in self._levels()[1:] if self.fitting({"feature_level": level})))

    def _attempts(self, levels: Sequence[int]) -> Iterator[_Match]:
        if self.facts.is_restored and self.first.outcome != "restored":
            yield from self._compilation()
        if not self.is_nnapi:
            yield from self._limits()
            return
        if self.profile is not None and (run := self.fitting({"driver": self.profile})):
            text = "the driver rejects what its profile says"
            rejected = _set_aside(run, "nnapi-driver")
            yield _Match(run, Explanation("driver-profile", text, {"driver": self.profile}, rejected, {}))
        has_table = self.facts.evidence != "lines"
        if has_table:
            yield from self._driver(self._levels()[:1])
        if levels:
            level = max(levels)
            others = f" (so do {', '.join(map(str, levels[:-1]))})" if len(levels) > 1 else ""
            text = f"feature level {level} instead of {self.setting.options['feature_level']} reproduces the device{others}"
            changes = {"feature_level": level}
            yield _Match(self.simulate(changes), Explanation("options", text, changes, {}, {}, len(levels) == 1))
        yield from self._limits()
        yield from self._driver(self._levels()[1:] if has_table else self._levels()[:1])

    def _compilation(self) -> Iterator[_Match]:
        """The delegate's kernels were made and the driver could not compile one."""
        facts = dataclasses.replace(self.facts, is_restored=False, application=None, on_cpu={}, counts={}, kernels={}, listed={})
        if self.log.driver_errors and facts.replacements is not None and not _differences(facts, self.first):
            text = "the nodes were replaced as simulated, and then the driver could not compile or prepare a kernel"
            yield _Match(self.first, Explanation("compilation", text, {}, {}, {}))

    def _limits(self) -> Iterator[_Match]:
        """An application that sets a limit on partitions."""
        name = next((name for name in _LIMITS if name in self.setting.options), None)
        if name is None or name in self.setting.known:
            return
        for limit in (0, *range(1, _MOST_LIMITS + 1)):
            if limit != self.setting.options[name] and (run := self.fitting({name: limit})):
                text = f"{name} = {limit} instead of {self.setting.options[name]} reproduces the device"
                yield _Match(run, Explanation("options", text, {name: limit}, {}, {}))
                return

    def _driver(self, levels: Iterable[int]) -> Iterator[_Match]:
        """A driver that rejects nodes which the delegate accepts, at one of these levels."""
        for level in levels:
            search = _DriverSearch(self, level)
            if search.is_possible:
                yield from search.matches()

    def _nodes(self, run: Run, explanation: Explanation | None) -> tuple[NodeFinding, ...]:
        """Say of each node that ran on the CPU on the device, as far as it is known, why."""
        found = []
        rejected = explanation.rejected if explanation else {}
        undecided = explanation.undecided if explanation else {}
        for subgraph in run.subgraphs:
            graph, decision = subgraph.graph, subgraph.decision
            nodes = self.facts.on_cpu.get(graph.index, self.facts.listed.get(graph.index))
            if nodes is None:
                nodes = frozenset(graph.execution_plan) - subgraph.delegated
            for index in sorted(nodes):
                verdict = decision.verdicts.get(index) if decision else None
                accepted = verdict is not None and verdict.is_supported
                if not accepted:
                    cause = REFUSED
                elif index in undecided.get(graph.index, ()):
                    cause = UNDECIDED
                elif index in rejected.get(graph.index, ()):
                    cause = DRIVER
                else:
                    reason = decision.set_aside.get(index) if decision else None
                    cause = UNDECIDED if reason is None else LIMIT if reason.code == PARTITION_LIMIT_CODE else DRIVER
                found.append(NodeFinding(graph.index, index, graph.nodes[index].op, cause, accepted))
        return tuple(found)

    def _notes(self) -> Iterator[str]:
        totals = [each.total for each in self.facts.replacements or () if each.total is not None]
        sizes = {len(subgraph.graph.execution_plan) for subgraph in self.first.subgraphs}
        for total in totals:
            if total not in sizes:
                own = ", ".join(map(str, sorted(sizes)))
                yield f"the log's line counts {total} nodes, the model has {own}: is it of this model?"
        if self.release != self.setting.release:
            yield f"{self.release} reproduces the device, {self.setting.release} does not"
        if self.log.driver_errors:
            yield f"the log has an error of the driver: {self.log.driver_errors[0]}"


def _set_aside(run: Run, code: str) -> dict[int, frozenset[int]]:
    found = {}
    for subgraph in run.subgraphs:
        if subgraph.decision is not None:
            nodes = frozenset(node for node, reason in subgraph.decision.set_aside.items() if reason.code == code)
            if nodes:
                found[subgraph.graph.index] = nodes
    return found


_Node = tuple[int, int]
"""Index of a subgraph, and of a node in it."""


class _DriverSearch:
    """Looks for the nodes that a driver rejects at one feature level."""

    def __init__(self, search: _Search, level: int) -> None:
        self.search = search
        self.facts = search.facts
        self.level = level
        self.changes: dict[str, Any] = {} if level == search.setting.options["feature_level"] else {"feature_level": level}
        self.base = search.simulate({**self.changes, "driver": None})
        self.limit: int = search.setting.options[_LIMITS[0]]
        self.kinds: dict[_Node, Any] = {}
        """What the driver is told of each node that it is asked about."""
        self.whole: set[_Node] = set()
        """Nodes of partitions that are taken whole or not at all."""
        options = MappingProxyType({**search.setting.options, **self.changes})
        for subgraph in self.base.subgraphs:
            questions = driver_questions(subgraph.graph, options, search.release) if subgraph.decision is not None else None
            for partition in questions.partitions if questions else ():
                for index in partition.nodes:
                    node = (subgraph.graph.index, index)
                    view = partition.graph.view(partition.graph.nodes[index])
                    operations = partition.operations.get(index, ())
                    if operations:
                        self.kinds[node] = (view.op, *[signature(operation, view) for operation in operations])
                    if partition.is_all_or_nothing or (questions and questions.has_float16):
                        self.whole.add(node)

    @property
    def is_possible(self) -> bool:
        """Whether the driver is asked about anything."""
        return bool(self.kinds)

    def matches(self) -> Iterator[_Match]:
        """Return what fits, best first; without whole tables by the lines, and the nodes that are listed."""
        if self.facts.on_cpu:
            yield from self._by_node()
        elif self.facts.counts:
            yield from self._by_operator()
        else:
            yield from self._by_line()

    def _fitting(self, rejected: Iterable[_Node]) -> Run | None:
        return self.search.fitting({**self.changes, "driver": self._driver(rejected)})

    def _driver(self, rejected: Iterable[_Node]) -> RejectedNodes:
        return RejectedNodes(_by_subgraph(rejected), self.search.setting.options["driver"])

    def _match(
        self, run: Run, rejected: Iterable[_Node], undecided: Iterable[_Node], text: str, is_certain: bool = True
    ) -> _Match:
        rejected = list(rejected)
        changes = {**self.changes, "driver": self._driver(rejected)}
        if self.changes:
            text += f", at feature level {self.level}"
        explanation = Explanation("driver", text, changes, _by_subgraph(rejected), _by_subgraph(undecided), is_certain)
        return _Match(run, explanation)

    def _by_node(self) -> Iterator[_Match]:
        """The nodes on the CPU are known: those that the delegate accepts were rejected, or their partition was dropped."""
        on_cpu = {(index, node) for index, nodes in self.facts.on_cpu.items() for node in nodes}
        delegated = {node for node in self.kinds if node[0] in self.facts.on_cpu and node not in on_cpu}
        aside = {node for node in self.kinds if node in on_cpu}
        accepted_kinds = {self.kinds[node] for node in delegated}
        rejected = {node for node in aside if node in self.whole or self.kinds[node] not in accepted_kinds}
        kinds = {self.kinds[node] for node in rejected - self.whole}
        rejected |= {node for node, kind in self.kinds.items() if node[0] not in self.facts.on_cpu and kind in kinds}
        text = "the driver rejects nodes that the delegate accepts"
        choices: Iterable[set[_Node]] = [rejected] if self.limit <= 0 else islice(self._unions(rejected), _MOST_ATTEMPTS)
        for chosen in choices:
            run = self._fitting(chosen) if chosen else None
            if run is not None:
                yield self._match(run, chosen, self._undecided(rejected - chosen, delegated), text)
                return
        if aside and (run := self._fitting(aside)) is not None:
            yield self._match(run, aside, (), f"{text}, and takes others of the same operator, types and shapes")

    def _unions(self, nodes: set[_Node]) -> Iterator[set[_Node]]:
        """Return all nodes of one operation, of two, of three, of one kind, then all, and all but one kind.

        With a limit on partitions not all nodes on the CPU need have been rejected: some partitions were dropped.
        """
        groups: dict[Any, set[_Node]] = {}
        kinds: dict[Any, set[_Node]] = {}
        for node in sorted(nodes - self.whole):
            groups.setdefault(self.kinds[node][0], set()).add(node)
            kinds.setdefault(self.kinds[node], set()).add(node)
        always = nodes & self.whole
        for number in (1, 2, 3):
            for chosen in islice(combinations(groups.values(), number), _MOST_ATTEMPTS // 4):
                yield always.union(*chosen)
        yield from (always | kind for kind in kinds.values())
        yield nodes
        yield from (nodes - kind for kind in kinds.values())

    def _undecided(self, nodes: set[_Node], delegated: set[_Node]) -> set[_Node]:
        """Leave out those that the driver takes with the same operations and types elsewhere: a limit dropped them."""
        taken = {_types(self.kinds[node]) for node in delegated}
        return {node for node in nodes if _types(self.kinds[node]) not in taken}

    def _by_operator(self) -> Iterator[_Match]:
        """How many nodes of each operator ran on the CPU is known."""
        found: list[tuple[frozenset[_Node], Run]] = []
        for rejected in islice(self._selections(), _MOST_ATTEMPTS):
            run = self._fitting(rejected) if rejected else None
            if run is not None and all(rejected != other for other, _ in found):
                found.append((rejected, run))
                if self.limit > 0:
                    break
        if not found:
            return
        rejected, run = found[0]
        ambiguous = {node for other, _ in found for node in other ^ rejected}
        operators = sorted({_shown_op(self.base.subgraphs[index].graph, node) for index, node in rejected})
        text = f"the driver rejects nodes that the delegate accepts, by operator: {', '.join(operators)}"
        if len(found) > 1:
            text += f"; {len(found)} choices of nodes fit, of which this is one"
        yield self._match(run, rejected, ambiguous, text, len(found) == 1)

    def _selections(self) -> Iterator[frozenset[_Node]]:
        """Return sets of nodes that have the numbers of the summary, those of fewest kinds first."""
        choices: list[list[frozenset[_Node]]] = []
        for index, counts in self.facts.counts.items():
            subgraph = self.base.subgraphs[index]
            ours = frozenset(subgraph.graph.execution_plan) - subgraph.delegated
            ours_counts = Counter(_shown_op(subgraph.graph, node) for node in ours)
            by_op: dict[str, list[_Node]] = {}
            for node in self.kinds:
                if node[0] == index:
                    by_op.setdefault(_shown_op(subgraph.graph, node[1]), []).append(node)
            for op, nodes in by_op.items():
                more = counts.get(op, 0) - ours_counts[op]
                if more or self.limit > 0:
                    choices.append(list(self._choices(nodes, counts.get(op, 0) if self.limit > 0 else more)))
        for chosen in product(*choices):
            yield frozenset(node for nodes in chosen for node in nodes)

    def _choices(self, nodes: Sequence[_Node], wanted: int) -> Iterator[frozenset[_Node]]:
        """Return the unions of kinds of nodes with so many nodes, or with a limit on partitions with at most as many."""
        kinds: dict[Any, list[_Node]] = {}
        for node in nodes:
            kinds.setdefault(self.kinds[node], []).append(node)
        groups = list(kinds.values())
        if len(groups) > _MOST_KINDS:
            if wanted in (0, len(nodes)):
                yield frozenset(nodes[:wanted])
            return
        for number in range(len(groups) + 1):
            for chosen in combinations(groups, number):
                size = sum(map(len, chosen))
                if size == wanted or (self.limit > 0 and size < wanted):
                    yield frozenset(node for group in chosen for node in group)

    def _by_line(self) -> Iterator[_Match]:
        """Only the lines are known: see which operators, rejected as a whole, lead to them."""
        by_op: dict[str, set[_Node]] = {}
        for index, node in self.kinds:
            by_op.setdefault(_shown_op(self.base.subgraphs[index].graph, node), set()).add((index, node))
        for number in (1, 2):
            fitting = []
            for names in islice(combinations(sorted(by_op), number), _MOST_ATTEMPTS):
                rejected = {node for name in names for node in by_op[name]}
                if (run := self._fitting(rejected)) is not None:
                    fitting.append((names, rejected, run))
            if fitting:
                names, rejected, run = fitting[0]
                others = [" and ".join(each) for each, _, _ in fitting[1:]]
                text = f"a driver that rejects {' and '.join(names)} would lead to these lines"
                if others:
                    text += f", and so would one that rejects {' or '.join(others)}"
                text += "; only a table of operators tells"
                yield self._match(run, rejected, rejected, text, is_certain=False)
                return


def _types(kind: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((each.operation, each.types) for each in kind[1:])


def _by_subgraph(nodes: Iterable[_Node]) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for subgraph, node in sorted(nodes):
        found.setdefault(subgraph, set()).add(node)
    return {subgraph: frozenset(indices) for subgraph, indices in found.items()}


def _simulated_side(run: Run) -> Side:
    delegated = sum([len(subgraph.delegated) for subgraph in run.subgraphs])
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs])
    return Side(
        run.log_lines,
        delegated,
        sum([len(subgraph.subsets) for subgraph in run.subgraphs]),
        sum([subset.is_delegated for subgraph in run.subgraphs for subset in subgraph.subsets]),
        nodes - delegated,
    )


def _device_side(facts: _Facts, run: Run) -> Side:
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs])
    with_nodes = [subgraph.graph.index for subgraph in run.subgraphs if subgraph.graph.execution_plan]
    on_cpu = None
    if all(index in facts.on_cpu or index in facts.counts for index in with_nodes):
        on_cpu = sum(map(len, facts.on_cpu.values())) + sum(sum(counts.values()) for counts in facts.counts.values())
    kernels = sum(facts.kernels.values()) if facts.kernels else facts.application[1] if facts.application else None
    delegated = partitions = None
    if facts.is_restored or facts.dynamic is not None:
        delegated = partitions = kernels = 0
        on_cpu = nodes
    elif facts.replacements is not None:
        delegated = sum([each.replaced for each in facts.replacements])
        partitions = sum([each.partitions for each in facts.replacements])
        on_cpu = nodes - delegated if on_cpu is None else on_cpu
    elif on_cpu is not None:
        delegated = nodes - on_cpu
    return Side(facts.lines, delegated, partitions, kernels, on_cpu)
