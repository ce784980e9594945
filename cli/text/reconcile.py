"""What reconciling a log came to, as text: the lines of both sides, the numbers, and why nodes ran on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.device.learning import Learning, condition_text
from delegate_sim.device.reconcile import (
    DRIVER,
    LIMIT,
    REFUSED,
    REPRODUCED,
    UNDECIDED,
    UNEXPLAINED,
    NodeFinding,
    Reconciliation,
    Side,
)
from delegate_sim.releases.catalogue import RELEASES

from ..layout import counted, message, name, node_list, option_value, wrapped
from ..terminal import Line

_HEADING = "bold"
_GOOD, _BAD = "bold green", "bold red"
_OPERATORS_SHOWN = 12
_UNKNOWN = "not in the log"

_CAUSES = {
    DRIVER: "The driver's doing: the delegate accepts them, the accelerator's driver rejects them",
    LIMIT: "Dropped by the limit on partitions: delegate and driver accept them",
    UNDECIDED: "Accepted by the delegate; the log does not tell what kept them on the CPU",
    REFUSED: "Refused by the delegate's own rules",
}
_EVIDENCE = {
    "run-order": "the table in running order tells each node that ran on the CPU",
    "node-types": "the summary by node type tells how many nodes of each operator ran on the CPU, not which",
    "partial": "a table tells some of the nodes that ran on the CPU",
    "lines": "no table of operators: which nodes ran on the CPU is as simulated",
}


def reconciliation_lines(found: Reconciliation, width: int, verbose: bool) -> Iterator[Line]:
    """Return the text of a reconciliation; long lists of nodes are cut unless ``verbose``."""
    yield from _setting(found, width)
    yield Line("")
    yield from _sides(found, width)
    yield Line("")
    yield from _result(found, width)
    yield from _nodes(found.nodes, width, verbose)
    yield from _operators(found, width)
    if found.notes:
        yield Line("")
        yield Line("Notes", _HEADING)
        for note in found.notes:
            yield from _paragraph(message(note), width, "  - ", "    ")


def learning_lines(learning: Learning, path: str, width: int) -> Iterator[Line]:
    """Return what was learnt of the driver."""
    yield Line("")
    yield Line(f"Driver profile: {message(path)}", _HEADING)
    conditions = learning.profile.conditions
    logs = counted(len(learning.profile.sources), "log")
    yield from _paragraph(f"{counted(len(conditions), 'rule')} from {logs}, {len(learning.added):,} new", width, "  ", "    ")
    for condition in conditions:
        new = " (new)" if condition in learning.added else ""
        yield from _paragraph(message(f"rejects {condition_text(condition)}{new}"), width, "  - ", "    ")
    for note in learning.notes:
        yield from _paragraph(message(f"open: {note}"), width, "  ", "    ")


def _setting(found: Reconciliation, width: int) -> Iterator[Line]:
    setting = found.setting
    known = [
        f"{key}={option_value(value)}"
        for key, value in setting.options.items()
        if key in setting.known and value not in (None, ())
    ]
    yield Line("Target", _HEADING)
    yield from _fact("delegate", setting.delegate.name, width)
    yield from _fact("releases", ", ".join(_spans([str(release) for release in setting.releases])), width)
    yield from _fact("options", message(" ".join(known)) or "none in the log", width)
    yield from _fact(
        "other options", f"the defaults of {'benchmark_model' if setting.defaults == 'benchmark' else 'the API'}", width
    )


def _spans(releases: Sequence[str]) -> list[str]:
    """Return releases that follow each other as ``tf-2.13 to tf-2.18``."""
    spans: list[list[str]] = []
    for release in releases:
        position = RELEASES.index(release) if release in RELEASES else -1
        follows = spans and position > 0 and RELEASES[position - 1] == spans[-1][-1]
        if follows and spans[-1][-1].partition("-")[0] == release.partition("-")[0]:
            spans[-1].append(release)
        else:
            spans.append([release])
    return [span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans]


def _sides(found: Reconciliation, width: int) -> Iterator[Line]:
    """The lines are as they were printed, neither wrapped nor styled."""
    for title, side in (("Device", found.device), ("Simulated", found.simulated)):
        yield Line(title, _HEADING)
        for line in side.lines:
            yield Line(f"  {message(line)}")
        yield from _fact("nodes", _numbers(side), width)


def _numbers(side: Side) -> str:
    values = (
        ("delegated", side.delegated),
        ("on the CPU", side.on_cpu),
        ("partitions", side.partitions),
        ("delegate kernels", side.kernels),
    )
    return ", ".join([f"{title}: {_UNKNOWN if number is None else f'{number:,}'}" for title, number in values])


def _result(found: Reconciliation, width: int) -> Iterator[Line]:
    if found.status == REPRODUCED:
        yield Line("Reproduced: the simulation reproduces the device", _GOOD)
        return
    if found.status == UNEXPLAINED or found.explanation is None:
        yield Line("Unexplained: the device did something else, and nothing tried here leads to it", _BAD)
    else:
        certain = "" if found.explanation.is_certain else " (one of several possible explanations)"
        yield Line(f"Explained{certain}", _GOOD)
        yield from _paragraph(message(found.explanation.text), width, "  ", "  ")
    for difference in found.differences:
        yield from _paragraph(message(f"differs: {difference}"), width, "  ", "    ")
    if found.feature_levels and found.explanation is not None and found.explanation.kind != "options":
        levels = ", ".join(map(str, found.feature_levels))
        text = f"without a driver that rejects anything, feature level {levels} would lead to the same"
        yield from _paragraph(text, width, "  ", "    ")


def _nodes(nodes: Sequence[NodeFinding], width: int, verbose: bool) -> Iterator[Line]:
    for cause in (DRIVER, LIMIT, UNDECIDED, REFUSED):
        chosen = [finding for finding in nodes if finding.cause == cause]
        if not chosen:
            continue
        yield Line("")
        yield Line(f"{_CAUSES[cause]}: {counted(len(chosen), 'node')}", _HEADING)
        groups: dict[tuple[int, str], list[int]] = {}
        for finding in chosen:
            groups.setdefault((finding.subgraph, finding.op), []).append(finding.node)
        entries = sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1])))
        several = len({finding.subgraph for finding in nodes}) > 1
        shown = entries if verbose else entries[:_OPERATORS_SHOWN]
        for (subgraph, op), indices in shown:
            place = f" of subgraph {subgraph}" if several else ""
            start = f"  {name(op)}{place}: {counted(len(indices), 'node')} ["
            room = None if verbose else max(width - len(start) - 1, 20)
            yield Line(f"{start}{node_list(indices, room)}]")
        if len(shown) < len(entries):
            yield Line(f"  ... and {counted(len(entries) - len(shown), 'more operator')} (--verbose lists all)")
    if nodes:
        return
    yield Line("")
    yield Line("No node ran on the CPU")


def _operators(found: Reconciliation, width: int) -> Iterator[Line]:
    if found.operators:
        yield Line("")
        yield Line("Refusals that differ", _HEADING)
    for finding in found.operators:
        text = (
            f"{name(finding.op)} version {finding.version}: {finding.on_device:,} on the device, {finding.simulated:,} simulated"
        )
        yield from _paragraph(text, width, "  ", "    ")
    yield Line("")
    yield from _paragraph(f"Evidence: {_EVIDENCE[found.evidence]}", width, "", "  ")


def _fact(title: str, text: str, width: int) -> Iterator[Line]:
    return _paragraph(text, width, f"  {title:14} ", " " * 17)


def _paragraph(text: str, width: int, indent: str, hanging: str) -> Iterator[Line]:
    return (Line(line) for line in wrapped(text, width, indent, hanging))
