"""A reconciliation as text: log lines and numbers of device and simulation, and the reasons for nodes on the CPU."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import Option, as_typed, option_value
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, find_delegate
from delegate_sim.delegates.traits import Ranking
from delegate_sim.device.compare.device_profile import DevicesLearning
from delegate_sim.device.compare.differences import ListedRefusal
from delegate_sim.device.compare.driver_profile import Learning, rejection_text
from delegate_sim.device.compare.driver_rejections import RejectedNodes
from delegate_sim.device.compare.observed_delegation import Tally
from delegate_sim.device.compare.reconcile import NOT_COMPARED, REPRODUCED, UNEXPLAINED, Reconciliation, unchecked_note
from delegate_sim.device.compare.trial_simulations import DRIVER, LIMIT, REFUSED, UNDECIDED
from delegate_sim.device.parse.compilations import compilation_text
from delegate_sim.device.parse.error_meanings import ExplainedError, has_run
from delegate_sim.foundation.printable import printable
from delegate_sim.model.model import Model
from delegate_sim.releases.catalogue import RELEASES
from delegate_sim.results.report.outcome_words import words_of
from delegate_sim.results.report.verdict import verdict

from ...console.layout import counted, item_list, message, name, node_list, options_text
from ...console.terminal import Line
from ..elements.paragraphs import BAD, GOOD, HEADING, HINT, fact, heading_lines, item_lines, more_lines, paragraph, spans
from .log import unused_lines

_OPERATORS_SHOWN = 12
_DRIVER_WIDTH = 80
_UNKNOWN = "not in the log"

_CAUSES = {
    DRIVER: "Rejected by the driver, although the delegate accepts them",
    LIMIT: "Dropped by a limit on partitions, although the delegate accepts them",
    UNDECIDED: "Accepted by the delegate; the log does not show why they stayed on the CPU",
    REFUSED: "Refused by the delegate's own rules",
}
_UNDONE = "Accepted by the delegate, but all delegation was undone"
_NOT_APPLIED = "On the CPU, because the delegate is not applied"
_HAS_RUN = {
    True: "The runtime went on without the delegate",
    False: "The model did not run",
    None: "The log does not show whether the model ran",
}
_EVIDENCE = {
    "run-order": "the table in execution order lists every node that ran on the CPU",
    "node-types": "the summary by node type has the number of CPU nodes of each operator, and does not name the nodes",
    "partial": "a table lists some of the nodes that ran on the CPU",
    "lines": "the log has no table of operators; the simulation shows which nodes probably ran on the CPU",
}


def reconciliation_lines(reconciliation: Reconciliation, width: int, verbose: bool) -> Iterator[Line]:
    """Return the text of a reconciliation. Without ``verbose``, long lists of nodes are shortened."""
    yield from other_model_lines(reconciliation.doubts, width)
    yield from _result(reconciliation, width)
    yield Line("")
    yield from tally_lines(reconciliation.device, reconciliation.simulated, width, reconciliation.setting.delegate)
    yield from _nodes(reconciliation, width, verbose)
    if not reconciliation.nodes:
        yield Line("")
        on_cpu = reconciliation.device.on_cpu
        count = "" if on_cpu is None else f" ({on_cpu:,})"
        none = "No node ran on the CPU" if on_cpu == 0 else f"The log does not show which nodes ran on the CPU{count}"
        yield Line(_HAS_RUN[has_run(reconciliation.log)] if reconciliation.failure else none)
    yield from _refusals(reconciliation, width)
    yield Line("")
    yield from _setting(reconciliation, width)
    if reconciliation.status == UNEXPLAINED:
        yield from _checks(reconciliation, width)
    run = reconciliation.run
    told = (
        *reconciliation.doubts,
        *([unchecked_note(run.delegate, run.release)] if reconciliation.status == UNEXPLAINED else []),
    )
    yield from item_lines([note for note in reconciliation.notes if note not in told], width, "Notes")
    if reconciliation.log.unused_count:
        yield Line("")
        yield from unused_lines(reconciliation.log, width, verbose)


def other_model_lines(notes: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the notes that the log may be of another model, and an empty line."""
    for note in notes:
        yield from paragraph(message(note), width, "", "  ", style=BAD)
    if notes:
        yield Line("")


def learning_lines(learning: Learning, path: str, width: int) -> Iterator[Line]:
    """Yield the text of a driver profile that was learned from a log."""
    yield from heading_lines(f"Driver profile: {message(path)}")
    rejections, added = learning.profile.rejections, set(learning.added)
    logs = counted(len(learning.profile.sources), "log")
    yield from paragraph(f"{counted(len(rejections), 'rule')} from {logs}, {len(learning.added):,} new", width, "  ", "    ")
    for rejection in rejections:
        new = " (new)" if rejection in added else ""
        yield from paragraph(message(f"rejects {rejection_text(rejection)}{new}"), width, "  - ", "    ")
    for note in learning.notes:
        yield from paragraph(message(f"open: {note}"), width, "  ", "    ")


def nothing_learned_lines(path: str) -> Iterator[Line]:
    """Yield the message that no profile is written."""
    yield from heading_lines(f"Driver profile: {message(path)}")
    yield Line("  not written, because the log has unexplained differences")


def devices_lines(learning: DevicesLearning, path: str, width: int) -> Iterator[Line]:
    """Return the text about the learned properties of the devices behind the delegate."""
    yield from heading_lines(f"Device profile: {message(path)} (for --devices)")
    for device in learning.devices:
        rejected = ", ".join(dict.fromkeys([rejection.operation for rejection in device.rejects]))
        parts = [f"does not take {rejected}" if rejected else "supported every operation that the log shows"]
        parts += ["compiles no model"] if device.fails_to_compile else []
        parts += [f"fails to compile {', '.join(device.cannot_compile)}"] if device.cannot_compile else []
        parts += (
            [f"fails to compile steps of more than {device.largest_bytes:,} bytes"] if device.largest_bytes is not None else []
        )
        yield from paragraph(message(f"{device.name}: {'; '.join(parts)}"), width, "  - ", "    ")
    for note in learning.notes:
        yield from paragraph(message(f"open: {note}"), width, "  ", "    ")


def _setting(reconciliation: Reconciliation, width: int) -> Iterator[Line]:
    setting = reconciliation.setting
    known = {key: value for key, value in setting.options.items() if key in setting.known}
    yield Line("Target", HEADING)
    yield from fact("delegate", setting.delegate.name, width)
    older = f", or older than {RELEASES[0]} (not simulated)" if setting.may_be_older else ""
    releases = f"{', '.join(spans([str(release) for release in setting.releases]))}{older}"
    if setting.is_older:
        releases = (
            f"older than {RELEASES[0]} (not simulated), by the wording or the dates of its lines; compared with {setting.release}"
        )
    yield from fact("releases", releases, width)
    yield from fact("options", message(options_text(setting.delegate.options, known)) or "none in the log", width)
    yield from fact(
        "other options", f"the defaults of {'benchmark_model' if setting.defaults == 'benchmark' else 'the API'}", width
    )


def tally_lines(device: Tally, simulated: Tally, width: int, delegate: Delegate) -> Iterator[Line]:
    """Yield the log lines and the numbers of the device and of the simulation."""
    for title, tally in (("Device", device), ("Simulated", simulated)):
        yield Line(title, HEADING)
        for line in tally.lines:
            yield Line(f"  {message(line)}")
        yield from fact("nodes", _numbers(tally, delegate), width)


def _numbers(tally: Tally, delegate: Delegate) -> str:
    words = words_of(delegate.name)
    values: tuple[tuple[str, int | None], ...] = (
        ("delegated", tally.delegated),
        (words.left, tally.on_cpu),
        ("partitions", tally.partitions),
        (words.kernels, tally.kernels),
    )
    if delegate.ranking is Ranking.PLUGINS:
        values = (("delegated", tally.delegated), ("left", tally.on_cpu), (words.kernels, tally.partitions))
    return ", ".join([f"{title}: {_UNKNOWN if number is None else f'{number:,}'}" for title, number in values])


def _result(reconciliation: Reconciliation, width: int) -> Iterator[Line]:
    if reconciliation.status == REPRODUCED:
        yield Line("Reproduced: the simulation agrees with the device", GOOD)
        if reconciliation.run.refusal is not None:
            yield from paragraph(message(verdict(reconciliation.run)), width, "  ", "  ")
        return
    if reconciliation.status == NOT_COMPARED and reconciliation.account is not None:
        yield from paragraph(f"Not compared: {message(reconciliation.account.text)}", width, "", "  ", style=BAD)
        return
    if reconciliation.status == NOT_COMPARED:
        why = "does not show what the delegate did"
        yield Line(f"Not compared: the log {'belongs to another delegate' if reconciliation.is_foreign else why}", BAD)
        return
    if reconciliation.status == UNEXPLAINED or reconciliation.account is None:
        text = "Unexplained: the device differs from the simulation, and no known cause explains the difference"
        yield from paragraph(text, width, "", "  ", style=BAD)
        run = reconciliation.run
        if own := run.delegate.own_release(run.target.options):
            who = run.delegate.display_name.replace("The ", "the ", 1)
            text = f"the simulated rules are those of {who} in {own}; another release on the device may decide differently"
            yield from paragraph(text, width, "  ", "    ", style=BAD)
        if text := unchecked_note(run.delegate, run.release):
            yield from paragraph(text, width, "  ", "    ", style=BAD)
    else:
        certain = "" if reconciliation.account.is_certain else " (one of several possible explanations)"
        yield Line(f"Explained{certain}", GOOD)
        yield from paragraph(message(reconciliation.account.text), width, "  ", "  ")
    for difference in reconciliation.differences:
        yield from paragraph(message(f"differs: {difference}"), width, "  ", "    ")
    declared = reconciliation.setting.delegate.levels
    if (
        declared is not None
        and reconciliation.feature_levels
        and reconciliation.account is not None
        and reconciliation.account.kind != "options"
    ):
        levels = ", ".join(map(declared.in_words, reconciliation.feature_levels))
        text = f"feature level {levels} would give the same result without rejections by the driver"
        yield from paragraph(text, width, "  ", "    ")


def assumed(model: Model, declared: Sequence[Option], key: str, value: object) -> str:
    """Return the text for an assumed value of an option: as it is typed, or the operators that an assumed driver rejects."""
    if not isinstance(value, RejectedNodes):
        return as_typed(declared, key, option_value(value))
    ops = [name(model.subgraphs[index].nodes[node].op) for index, nodes in value.nodes.items() for node in sorted(nodes)]
    return f"a driver that rejects {item_list(list(dict.fromkeys(ops)), _DRIVER_WIDTH)}"


def _checks(reconciliation: Reconciliation, width: int) -> Iterator[Line]:
    """Yield the file, the assumption that leaves the fewest differences, and what to record next.

    If the log is not of this file, nothing else needs to be checked.
    """
    yield from heading_lines("What to check, in this order")
    counts = {
        None: "the log does not show it",
        True: "the log counts as many nodes as this file has",
        False: "the log counts other nodes than this file has",
    }
    is_other = bool(reconciliation.doubts)
    answer = "probably not, as the first lines say" if is_other else counts[reconciliation.counts_agree]
    yield from _item(f"Is it this file? {answer}. On the device, sha256sum of the file must print", width)
    yield Line(f"    {reconciliation.model.sha256}", HINT)
    if is_other:
        return
    closest, setting = reconciliation.closest, reconciliation.setting
    if closest is None:
        yield from _item("No assumption that was simulated leaves fewer differences", width)
    else:
        typed = " ".join(
            [assumed(reconciliation.model, setting.delegate.options, key, value) for key, value in closest.options.items()]
        )
        left = counted(len(reconciliation.differences), "difference")
        which = f": {closest.differences[0]}" if closest.differences else ""
        known = [(key, setting.options[key]) for key in closest.options if key in setting.known]
        sure = " ".join([assumed(reconciliation.model, setting.delegate.options, key, value) for key, value in known])
        but = f", but {sure} follows from the log or your options" if known else ""
        yield from _item(f"With {typed}, {len(closest.differences):,} of {left} would be left{which}{but}", width)
    if reconciliation.evidence == "run-order":
        yield from _item(
            "The log shows each node on the CPU, so the rules or the driver differ: please report it with the log", width
        )
        return
    flags = _recording_flags(reconciliation.setting.delegate)
    if not flags:
        yield from _item("Record the whole log, from the creation of the model on (docs/device-logs.md):", width)
        yield Line("    adb logcat -d -s tflite litert > logcat.txt", HINT)
        return
    yield from _item("Record which nodes ran on the CPU (docs/device-logs.md):", width)
    path = reconciliation.log.graph or "model.tflite"
    command = f"benchmark_model --graph={shlex.quote(path)} --enable_op_profiling=true"
    yield Line(printable(f"    {command} {' '.join(flags)}"), HINT)


def _item(text: str, width: int) -> list[Line]:
    return paragraph(message(text), width, "  - ", "    ")


def _recording_flags(delegate: Delegate) -> list[str]:
    """Return the flags of benchmark_model for a delegate. It applies no compiler plugin."""
    log, others = delegate.log, find_delegate(APPLIED_BY_DEFAULT).log
    if delegate.is_plugin:
        return []
    if log.libraries:
        return [others.off_flag, "--external_delegate_path=PATH"]
    if not log.switch or not log.is_in_benchmark_model:
        return []
    flag = log.off_flag.replace("=false", "=true")
    return [flag] if log.switch == others.switch else [others.off_flag, flag]


def _nodes(reconciliation: Reconciliation, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the nodes on the CPU by cause. If the log does not show them and differs, the nodes are those of the simulation."""
    nodes, outcome = reconciliation.nodes, reconciliation.run.outcome
    is_simulated = _are_only_simulated(reconciliation)
    for cause in (DRIVER, LIMIT, UNDECIDED, REFUSED):
        chosen = [node for node in nodes if node.cause == cause]
        if not chosen:
            continue
        heading = _UNDONE if cause == UNDECIDED and outcome == "restored" else _CAUSES[cause]
        heading = _NOT_APPLIED if cause == REFUSED and outcome == "refused" else heading
        heading = f"In the simulation, {heading[0].lower()}{heading[1:]}" if is_simulated else heading
        yield from heading_lines(f"{heading}: {counted(len(chosen), 'node')}")
        groups: dict[tuple[int, str], list[int]] = {}
        for node in chosen:
            groups.setdefault((node.subgraph, node.op), []).append(node.node)
        entries = sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1])))
        several = len({node.subgraph for node in nodes}) > 1
        shown = entries if verbose else entries[:_OPERATORS_SHOWN]
        for (subgraph, op), indices in shown:
            place = f" of subgraph {subgraph}" if several else ""
            start = f"  {name(op)}{place}: {counted(len(indices), 'node')} ["
            room = None if verbose else max(width - len(start) - 1, 20)
            yield Line(f"{start}{node_list(indices, room)}]")
        yield from more_lines(len(entries) - len(shown), "operator")


def _are_only_simulated(reconciliation: Reconciliation) -> bool:
    """Return whether the CPU nodes are those of the simulation alone. After a kernel failed, all nodes are on the CPU."""
    is_undone = reconciliation.account is not None and reconciliation.account.kind == "compilation"
    return reconciliation.evidence == "lines" and (is_undone or reconciliation.status in (UNEXPLAINED, NOT_COMPARED))


def _refusals(reconciliation: Reconciliation, width: int) -> Iterator[Line]:
    if reconciliation.refusals:
        yield from heading_lines("Refusals that differ")
    for refusal in reconciliation.refusals:
        counts = f"{refusal.on_device:,} on the device, {refusal.simulated:,} simulated"
        text = f"{name(refusal.op)} version {refusal.version}: {counts}"
        yield from paragraph(text, width, "  ", "    ")
    if reconciliation.listed_refusals:
        yield from heading_lines("Operators that the delegate reports as refused")
    for listed in reconciliation.listed_refusals:
        yield from listed_lines(listed, width)
    devices = ", ".join(
        [f"{name(device)} for {counted(count, 'operation')}" for device, count in reconciliation.log.chosen_devices.items()]
    )
    if devices:
        yield Line("")
        yield from paragraph(f"Devices that Android's runtime chose: {devices}", width, "", "  ")
    for compilation in reconciliation.log.runtime.compilations:
        yield from paragraph(message(f"The runtime compiled {compilation_text(compilation)}"), width, "", "  ")
    yield from error_lines(reconciliation.errors, width)
    yield Line("")
    evidence = _EVIDENCE[reconciliation.evidence]
    if _are_only_simulated(reconciliation):
        evidence = "the log has no table of operators, so it does not show which nodes ran on the CPU"
    yield from paragraph(f"Evidence: {evidence}", width, "", "  ")


def error_lines(errors: Sequence[ExplainedError], width: int) -> Iterator[Line]:
    """Yield the errors in a log, with explanations."""
    if errors:
        yield from heading_lines("Errors in the log")
    for error in errors:
        yield from paragraph(message(error.line), width, "  ", "    ")
        if error.meaning:
            yield from paragraph(message(error.meaning), width, "    ", "    ")


def listed_lines(listed: ListedRefusal, width: int) -> Iterator[Line]:
    """Yield the reasons of the device and of the simulation for a refused operator in the log."""
    device = "; ".join(listed.on_device) or ("without a reason" if listed.on_device else "not listed")
    simulated = "simulated accepted" if listed.in_model else "not in the model"
    if listed.nodes:
        why = f": needs {'; needs '.join(listed.simulated)}" if listed.simulated else " without a reason"
        simulated = f"simulated {counted(listed.nodes, 'node')}{why}"
    same = "same" if listed.has_same_reasons else "same operator, another reason"
    sign = (same if listed.nodes else "not compared") if listed.is_same else "differs"
    text = f"{name(listed.op)} ({sign}): on the device {device}; {simulated}"
    yield from paragraph(message(text), width, "  ", "    ")
