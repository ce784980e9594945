"""The result of a scan, and what applications provide and lack, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.apps.app import ABSENT, COMPLETE, CONFLICT, FOUND, INCOMPLETE, MISSING, UNKNOWN, App, AppNeed, AppTarget
from delegate_sim.apps.manifest import CODES
from delegate_sim.foundation.printable import command_line, printable, typed_path
from delegate_sim.scan.output import causes_path
from delegate_sim.scan.scan import Scanned
from delegate_sim.scan.totals import TargetTotals, Totals

from ..console.layout import counted, item_list, message, name, share
from ..console.terminal import Line
from .elements.paragraphs import HEADING, HINT, heading_lines, item_lines, paragraph, table
from .many import Columns

APP_COLUMNS = Columns(("format", "models", *(state.capitalize() for state in (COMPLETE, INCOMPLETE))), ())
_STYLES = {COMPLETE: "green", INCOMPLETE: "red"}
_TITLES_OF_TARGETS = (
    *("target", "models", "whole", "in part", "nothing", "fails", "no answer", "nodes", "multiply-adds", "wrong"),
)
_TITLES = {MISSING: "missing", CONFLICT: "only one is loaded", UNKNOWN: "not known"}


def app_row(app: App) -> Sequence[str]:
    """Return the cells of an application in the table of many applications."""
    return (app.format, f"{len(app.models):,}", *(_names(app, state) or "-" for state in (COMPLETE, INCOMPLETE)))


def app_lines(app: App, width: int) -> Iterator[Line]:
    """Yield the verdict on an application, its content, the needs of each target, and what the file does not show."""
    yield from paragraph(message(_verdict(app)), width, style=HEADING)
    yield from table(_facts(app), (), width, indent=0)
    for model in app.models:
        if model.fault:
            yield from paragraph(message(f"{model.address}: {model.fault}"), width, "  ", "    ", style="red")
    used = [target for target in app.targets if target.state != ABSENT]
    for target in used:
        yield from _target_lines(target, width)
    absent = list(dict.fromkeys([target.target for target in app.targets if target.state == ABSENT]))
    if absent:
        yield from heading_lines("Not in the file")
        text = (
            f"{', '.join(absent)}: the file has no library of these targets. If no other module brings one, LiteRT runs the "
            "models without these targets, and only its log says so"
        )
        yield from paragraph(text, width, "  ", "    ")
    yield from heading_lines("What the file does not show")
    yield from item_lines([f"{CODES[code].title} ({code})" for code in app.not_checked], width)
    codes = list(dict.fromkeys([need.code for target in used for need in target.missing]))
    yield Line("What to do:" if codes else "The meaning of a code:", HINT)
    for code in codes or app.not_checked[:1]:
        yield Line(f"  {command_line(['explain', code])}", HINT)
    if app.models:
        yield Line("The graphs of the models:", HINT)
        yield Line(f"  {printable(command_line(['inspect', typed_path(app.path), '--verbose']))}", HINT)


def unmet_lines(apps: Sequence[App], width: int) -> Iterator[Line]:
    """Yield what the targets of applications lack, and the command that shows more about the first one."""
    incomplete = [(app, text) for app in apps if (text := _missing_text(app))]
    for app, text in incomplete:
        yield from paragraph(message(f"{app.path}: {text}"), width, "", "  ", style="yellow")
    if incomplete:
        yield Line(
            f"To see what accelerators need: {message(command_line(['inspect', typed_path(incomplete[0][0].path)]))}", HINT
        )


def _missing_text(app: App) -> str:
    return "; ".join(dict.fromkeys([_missing(target) for target in app.targets if target.state == INCOMPLETE]))


def _verdict(app: App) -> str:
    complete, missing = _names(app, COMPLETE), _missing_text(app)
    parts = [f"The file has what {complete} needs"] if complete else []
    parts += [f"incomplete: {missing}"] if missing else []
    return "; ".join(parts) or "No accelerator's libraries are complete in the file"


def _names(app: App, state: str) -> str:
    return ", ".join(dict.fromkeys([target.target for target in app.targets if target.state == state]))


def _missing(target: AppTarget) -> str:
    names = [" or ".join(need.needed) for need in target.missing if need.state == MISSING]
    others = [f"one of {' and '.join(need.found)}" for need in target.missing if need.state == CONFLICT]
    parts = [f"lacks {', '.join(names)}"] * bool(names) + [f"loads {part}" for part in others]
    return f"{target.target} ({target.abi}) {' and '.join(parts)}"


def _facts(app: App) -> list[tuple[str, str]]:
    sdks = [f"{title} {sdk}" for title, sdk in (("minimum", app.min_sdk), ("target", app.target_sdk)) if sdk is not None]
    compiled = list(dict.fromkeys([model.compiled_for for model in app.models if model.compiled_for]))
    models = counted(len(app.models), "model")
    fault = f"{message(app.manifest_fault)}, so its entries are not known"
    declared = item_list([name(library.name) for library in app.declared], 80) or "no libraries of the phone"
    return [
        ("file", f"{app.format.upper()}, {name(app.package or 'package not known')}"),
        ("Android API", ", ".join(sdks) or "not known"),
        ("runtimes", ", ".join(app.runtimes) or "none with a known name"),
        ("ABIs", item_list(map(name, app.abis), 80) or "none"),
        ("models", f"{models}; compiled: {item_list(map(name, compiled), 60)}" if compiled else models),
        ("manifest", fault if app.manifest_fault else f"declares {declared}"),
    ]


def _target_lines(target: AppTarget, width: int) -> Iterator[Line]:
    yield from heading_lines(f"{target.target} on {target.abi}: {target.state}", _STYLES.get(target.state, HEADING))
    for need in target.needs:
        if need.state != FOUND:
            text = f"{_TITLES[need.state]}: {_wanted(need)} in {name(need.place)} ({need.code})"
            yield from paragraph(text, width, "  ", "    ", style="red" if need in target.missing else "")
    present = [name(own) for need in target.needs if need.state == FOUND for own in need.found]
    if present:
        yield from paragraph(f"there: {item_list(present)}", width, "  ", "    ")


def _wanted(need: AppNeed) -> str:
    if need.state == CONFLICT:
        return " and ".join(map(name, need.found))
    return " or ".join(need.needed) + ("" if need.for_all else ", which only some phones need,")


def scan_lines(scan: Scanned, output: str, models: int, width: int) -> Iterator[Line]:
    """Yield a row for each target, the models that could not be read, and the output files."""
    totals = scan.totals
    has_wrong = any(own.wrong or own.possibly_wrong for own in totals.targets.values())
    for verdict in TargetTotals.verdicts(totals.targets):
        yield from paragraph(message(verdict), width, "", "  ", style="bold")
    anew = f"{scan.judged:,} simulated now, {scan.unchanged:,} unchanged"
    if scan.is_interrupted:
        stopped = f"Stopped with {totals.models:,} of {counted(models, 'model')} ({anew}); run the same command again to continue"
        yield Line(stopped, "bold red")
    else:
        yield Line(f"{counted(models, 'model')}: {anew}", "bold")
    if totals.targets:
        cells = [_TITLES_OF_TARGETS, *[_cells(target, own) for target, own in totals.targets.items()]]
        shown = [row if has_wrong else row[:-1] for row in cells]
        yield from table(shown, range(1, len(shown[0])), width)
    yield from _error_lines(totals, width)
    files = output if output.endswith(".sqlite") else f"{output} and {causes_path(output)}"
    yield Line("")
    yield Line(f"{counted(totals.rows, 'row')} and {counted(scan.causes, 'cause')} in {message(files)}")
    if scan.causes:
        yield Line(f"To see what keeps the most work on the CPU: {message(command_line(['query', typed_path(output)]))}", "cyan")
    if has_wrong:
        command = command_line(["query", typed_path(output), "--view", "wrong-numbers"])
        yield Line(f"To see the models with wrong numbers: {message(command)}", "cyan")


def _cells(target: str, own: TargetTotals) -> tuple[str, ...]:
    counts = (own.models, own.whole, own.in_part, own.untouched, own.failing, own.without_answer)
    taken = share(own.delegated_multiply_adds, own.multiply_adds) if own.multiply_adds else "-"
    perhaps = f" + {own.possibly_wrong:,} perhaps" if own.possibly_wrong else ""
    wrong = f"{own.wrong:,}{perhaps}" if own.judged else "-"
    return (target, *[f"{count:,}" for count in counts], share(own.delegated_nodes, own.nodes), taken, wrong)


def _error_lines(totals: Totals, width: int) -> Iterator[Line]:
    if not totals.failed_models:
        return
    yield Line("")
    for error in totals.errors:
        yield from paragraph(message(error), width, style="bold red")
    if totals.failed_models > len(totals.errors):
        others = counted(totals.failed_models - len(totals.errors), "more model")
        yield Line(f"... and {others}, in the column error")
