"""The results of LiteRT-LM's engine and of ``fix`` for a bundle, and the contents of a bundle, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.fixing.bundle_fix import BundleFix
from delegate_sim.foundation.printable import command_line, printable, typed_path
from delegate_sim.live.litert_lm import LiveBundle
from delegate_sim.llm.bundle import JUDGED
from delegate_sim.llm.contents import BundleContents, SectionContents
from delegate_sim.llm.report import STARTS, BackendReport, BundleReplacement, Stop

from ..console.layout import counted, item_list, message, name
from ..console.terminal import Line
from .elements.paragraphs import HEADING, HINT, heading_lines, indented, item_lines, paragraph, table
from .fix import fix_lines
from .many import Columns

_UNKNOWN = "-"
_REASONS_SHOWN = 5
_STAGES = {
    "engine": "creating the engine",
    "session": "creating a session",
    "prefill": "reading the prompt",
    "decode": "generating tokens",
    "done": "destroying the engine",
}
OUTCOMES = {
    "starts": "generates tokens",
    "refused": "refused",
    "starts-then-fails": "starts, then fails",
    "crash": "crashes",
}
"""The outcomes in words."""
_CELLS = {STARTS: "runs"}
"""Shorter words in the table of many bundles."""


ENGINE = Columns(tuple([backend.lower() for backend in JUDGED]), ())
CONTENTS = Columns(("sections", "bytes", "weights", "caches"), (1, 2, 3))


def engine_row(reports: Sequence[BackendReport]) -> Sequence[str]:
    """Return the cells of a bundle in the table of many bundles."""
    words = {report.backend.lower(): _CELLS.get(report.outcome, OUTCOMES[report.outcome]) for report in reports}
    return tuple([words.get(heading, _UNKNOWN) for heading in ENGINE.headings])


def engine_lines(reports: Sequence[BackendReport], width: int, verbose: bool) -> Iterator[Line]:
    """Yield the backends that generate tokens. For each backend, yield the failed check and the nodes that delegates take."""
    starting = [report.backend.lower() for report in reports if report.outcome == STARTS]
    others = [report.backend.lower() for report in reports if report.outcome != STARTS]
    verdict = f"LiteRT-LM {OUTCOMES[STARTS]} on {_listed(starting) if starting else 'no backend'}"
    if starting and others:
        verdict += f", not on {_listed(others)}"
    yield from paragraph(verdict, width, style="green" if starting else "red")
    for report in reports:
        yield from heading_lines(f"{report.backend.lower()}: {OUTCOMES[report.outcome]}")
        if report.stop is not None:
            yield from _stop_lines(report.stop, width, verbose)
        if report.replacements:
            yield from _delegated_lines(report.replacements, width, verbose)
        for note in report.notes:
            yield from paragraph(f"Note: {message(note)}", width, "  ", "    ", style="dim")


def outcome_text(report: BackendReport) -> str:
    """Return the outcome on a backend, with the first reason if the engine does not generate tokens."""
    words = OUTCOMES[report.outcome]
    stop = report.stop
    if stop is None:
        return words
    reason = stop.reasons[0] if stop.reasons else stop.error.splitlines()[-1].removeprefix("└ ")
    return f"{words} ({message(reason)})"


def answer_lines(path: str, reports: Sequence[BackendReport], width: int) -> Iterator[Line]:
    """Yield the outcome on each backend, and the command that shows the engine's checks."""
    for report in reports:
        text = f"LiteRT-LM on {report.backend.lower()}: {outcome_text(report)}"
        yield from paragraph(text, width, "", "  ", style=HEADING)
    options = [word for report in reports for word in ("--option", f"backend={report.backend.lower()}")]
    yield Line("What LiteRT-LM's engine does with the bundle:", HINT)
    yield Line(f"  {printable(command_line(['analyze', typed_path(path), *options]))}", HINT)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([part for part in (", ".join(names[:-1]), names[-1]) if part])


def _stop_lines(stop: Stop, width: int, verbose: bool) -> Iterator[Line]:
    place = [name(part) for part in (stop.section, f"signature {stop.signature}" if stop.signature else None) if part]
    if stop.node is not None:
        place.append(f"node {stop.node} ({name(stop.operator or '?')})")
    where = f" in {', '.join(place)}" if place else ""
    yield from paragraph(f"Stops while {_STAGES[stop.stage]}{where} ({stop.check})", width, "  ", "    ")
    for line in stop.error.splitlines():
        yield from paragraph(message(line), width, "    ", "      ", style="red")
    shown = stop.reasons if verbose else stop.reasons[:_REASONS_SHOWN]
    for reason in shown:
        yield from indented(message(reason), width, "    ")
    if len(shown) < len(stop.reasons):
        yield Line(f"    and {len(stop.reasons) - len(shown):,} more (-v shows them)", "dim")
    if stop.hint:
        yield from indented(f"Change: {message(stop.hint)}", width, "  ")


def _delegated_lines(lines: Sequence[BundleReplacement], width: int, verbose: bool) -> Iterator[Line]:
    counts = [(name(line.name or str(line.subgraph)), f"{line.replaced:,} of {line.nodes:,}") for line in lines]
    if not verbose:
        parts = item_list([f"{subgraph} {count}" for subgraph, count in counts], 80)
        yield from indented(f"Nodes on {lines[0].delegate}: {parts}", width, "  ")
        return
    rows = [("section", "subgraph", "delegate", "nodes", "partitions")]
    for line, (subgraph, count) in zip(lines, counts, strict=True):
        rows.append((name(line.section), subgraph, line.delegate, count, f"{line.partitions:,}"))
    yield from table(rows, (3, 4), width, keys=2)


def live_bundle_lines(results: Sequence[LiveBundle], width: int) -> Iterator[Line]:
    """Yield the results of the real engine, and the differences from the simulation."""
    for result in results:
        yield Line("")
        title = f"{result.backend.lower()}, live"
        if not result.is_run:
            yield from paragraph(f"{title}: cannot run here; it needs {message(result.lacks)}", width, "", "  ", style="dim")
            continue
        verdict = "differs from the simulation" if result.differences else "as simulated"
        text = f"{title} ({message(result.software)}): {OUTCOMES[result.outcome]}, {verdict}"
        yield from paragraph(text, width, "", "  ", style="bold red" if result.differences else HEADING)
        yield from item_lines(result.differences, width)


def contents_row(contents: BundleContents) -> Sequence[str]:
    """Return the cells of a bundle in the table of many bundles."""
    return (f"{len(contents.sections):,}", f"{contents.size:,}", f"{contents.weights:,}", f"{contents.caches:,}")


def contents_lines(contents: BundleContents, width: int) -> Iterator[Line]:
    """Yield the contents and requirements of a bundle, and a table of the sections."""
    metadata = contents.metadata
    facts = [
        ("format", f"LiteRT-LM {'.'.join(map(str, contents.version))}"),
        ("file", f"{contents.size:,} bytes"),
        ("weights", f"{contents.weights:,} bytes"),
        ("caches", f"{contents.caches:,} bytes"),
        ("tokenizer", contents.tokenizer or "none"),
        ("model", _UNKNOWN if metadata is None else name(metadata.model_name or "not given")),
        ("tokens", _UNKNOWN if metadata is None or not metadata.max_num_tokens else f"at most {metadata.max_num_tokens:,}"),
        ("needs", f"LiteRT-LM {name(metadata.min_runtime_version)}" if metadata and metadata.min_runtime_version else _UNKNOWN),
    ]
    yield from table(facts, (), width, indent=0)
    yield Line("")
    rows: list[Sequence[str]] = [("section", "bytes", "weights", "caches", "context", "backends")]
    rows += [_section_row(section) for section in contents.sections]
    yield from table(rows, (1, 2, 3, 4), width)
    for section in contents.sections:
        if section.model is not None and section.model.compiled_for:
            text = f"{name(section.name)} is compiled for {name(section.model.compiled_for)}; no other SoC runs it"
            yield from indented(text, width, "  ", "yellow")
    for section in contents.sections:
        model = section.model
        if model is not None and model.signatures:
            text = f"{name(section.name)}: {item_list([name(key) for key in model.signatures], 90)}"
            yield from indented(f"Signatures of {text}", width, "  ")
        if section.items:
            items = [f"{name(key)}={name(str(value))}" for key, value in section.items]
            yield from indented(f"Items of {name(section.name)}: {item_list(items, 90)}", width, "  ")
        if section.fault:
            text = f"Section {section.number} ({name(section.name)}): {message(section.fault)}"
            yield from paragraph(text, width, "  ", "    ", style="red")


def _section_row(section: SectionContents) -> tuple[str, ...]:
    model, constraint = section.model, section.constraint
    backends = ("" if model is None else "any") if constraint is None else name(constraint) or "none"
    sizes = ["", "", ""]
    if model is not None:
        context = "" if model.context is None else f"{model.context:,}"
        sizes = [f"{model.weights:,}", f"{model.caches:,}" if model.caches else "", context]
    return (name(section.name), f"{section.size:,}", *sizes, backends)


def bundle_fix_lines(bundle: BundleFix, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the changes of the bundle, the engine's result before and after the changes, and the fix of each section."""
    yield from paragraph(_answer(bundle), width, style=HEADING)
    for change in bundle.engine:
        text = f"LiteRT-LM on {change.backend}: {outcome_text(change.before)}; rewritten: {outcome_text(change.after)}"
        yield from paragraph(text, width, "", "  ", style=HEADING)
    for section in bundle.sections:
        yield Line("")
        yield Line(name(section.name), HEADING)
        if section.plan is None:
            yield from indented(f"stays as it is: {message(section.problem)}", width, "  ", "red")
        elif not section.is_changed and not verbose:
            yield from indented("stays as it is: no pass improves it", width, "  ")
        else:
            yield from fix_lines(section.plan, section.fixed, width, verbose)


def _answer(bundle: BundleFix) -> str:
    number, count = counted(len(bundle.sections), "model"), sum([section.is_changed for section in bundle.sections])
    sections = f"{count} of {number}"
    if bundle.written is not None:
        return f"Wrote {message(bundle.written)} ({bundle.size:,} bytes): {sections} rewritten; all else keeps its bytes"
    if count:
        return f"Passes would improve {sections}; nothing is written"
    return f"No pass improves a model of the bundle ({number})"
