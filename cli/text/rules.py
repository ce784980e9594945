"""What a delegate accepts, as text, Markdown and JSON, made from the rules themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.results.rule_changes import RuleChange
from delegate_sim.rules.rule import Check, OpRule
from delegate_sim.version import __version__

from ..layout import default_text, wrapped

SCHEMA = "delegate-sim/rules/1"
CHANGES_SCHEMA = "delegate-sim/rule-changes/1"

_COLUMNS = ("", "needs", "when", "code")
_WIDTH_OF_OTHER_COLUMNS = 40
_NARROWEST_NEEDS = 24


def when(check: Check) -> str:
    """Say for which targets a check counts; nothing if for all."""
    words = []
    if check.since is not None:
        words.append(f"from level {check.since}")
    if check.below is not None:
        words.append(f"below level {check.below}")
    if check.accelerator is not None:
        words.append("with accelerator" if check.accelerator else "without accelerator")
    if check.introduced is not None:
        words.append(f"from {check.introduced}")
    if check.withdrawn is not None:
        words.append(f"before {check.withdrawn}")
    return ", ".join(words)


def rules_text(delegate: Delegate, rules: Mapping[str, OpRule | None], width: int) -> str:
    """Return a table for each operator, fit for a terminal of this width."""
    from tabulate import tabulate

    needs_width = max(width - _WIDTH_OF_OTHER_COLUMNS, _NARROWEST_NEEDS)
    blocks = []
    for op, rule in rules.items():
        if rule is None:
            blocks.append(f"{op}\n  {_not_accepted(delegate)}\n")
            continue
        rows = list(_rows(rule)) or [("", "nothing", "", "")]
        table = tabulate(rows, _COLUMNS, tablefmt="plain", maxcolwidths=[None, needs_width, 16, None], disable_numparse=True)
        known = "" if rule.introduced is None else f" (from {rule.introduced})"
        blocks.append(f"{op}{known}\n" + "".join(f"  {line.rstrip()}\n" for line in table.splitlines()))
    return "\n".join(blocks)


def rules_markdown(delegate: Delegate, rules: Mapping[str, OpRule | None], is_whole: bool) -> str:
    """Return a table for each operator as Markdown; as a whole, also the options and the explanation of each code."""
    lines = [
        f"# What the delegate {delegate.name} accepts",
        "",
        "A node must meet every condition that counts for the target; they stand in the order in which the delegate tests them. "
        "Operators that are not listed are refused.",
        *(_options(delegate) if is_whole else ()),
    ]
    for op, rule in rules.items():
        lines += ["", f"## {op}", ""]
        if rule is None:
            lines.append(_not_accepted(delegate))
            continue
        if rule.introduced is not None:
            lines += [f"Known from {rule.introduced} on.", ""]
        lines += ["| | needs | when | code |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(map(_escaped, row[:3]))} | `{row[3]}` |" for row in _rows(rule)]
    if is_whole:
        lines += ["", "# Codes"]
        for code, explanation in delegate.explanations.items():
            title, meaning, advice = map(_escaped, explanation)
            lines += ["", f"## {code}", "", f"*{title}.* {meaning}", "", advice]
    return "\n".join(lines) + "\n"


def changes_text(delegate: Delegate, changes: Sequence[RuleChange], since: str | None, width: int) -> str:
    """Return what releases changed, as a difference: conditions that went and came, operator by operator."""
    if not changes:
        return f"{delegate.name}: no rule changed{f' after {since}' if since else ''}, as far as is known.\n"
    lines: list[str] = []
    release = None
    for change in changes:
        if change.release != release:
            lines += [*([""] if lines else []), f"{change.release}"]
            release = change.release
        lines.append(f"  {change.op}{': known from here on' if change.is_new else ''}")
        for sign, checks in (("-", change.gone), ("+", change.come)):
            for check in checks:
                lines += wrapped(f"{sign} needs {check.needed} ({check.code})", width, "    ", "      ")
    return "\n".join(lines) + "\n"


def changes_entry(delegate: Delegate, changes: Sequence[RuleChange]) -> dict[str, Any]:
    """Return what releases changed as plain data."""
    return {
        "schema": CHANGES_SCHEMA,
        "tool": {"name": "delegate-sim", "version": __version__},
        "delegate": delegate.name,
        "changes": [
            {
                "release": str(change.release),
                "op": change.op,
                "is_new": change.is_new,
                "gone": [_check_entry(check) for check in change.gone],
                "come": [_check_entry(check) for check in change.come],
            }
            for change in changes
        ],
    }


def rules_entry(delegate: Delegate, rules: Mapping[str, OpRule | None]) -> dict[str, Any]:
    """Return the rules as plain data."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "delegate-sim", "version": __version__},
        "delegate": delegate.name,
        "operators": [
            {
                "op": op,
                "accepted": rule is not None,
                "introduced": str(rule.introduced) if rule is not None and rule.introduced is not None else None,
                "accepted_early": _check_entry(rule.accepted_early) if rule and rule.accepted_early else None,
                "checks": [_check_entry(check) for check in rule.checks] if rule else [],
            }
            for op, rule in rules.items()
        ],
    }


def _options(delegate: Delegate) -> Iterator[str]:
    if not delegate.options:
        return
    yield from ("", "# Options", "", "| option | means | default | default of benchmark_model |", "|---|---|---|---|")
    for option in delegate.options:
        values = [default_text(option.default_in(defaults)) for defaults in ("api", "benchmark")]
        yield f"| `{option.name}` | {_escaped(option.help)} | {' | '.join(map(_escaped, values))} |"
    yield from ("", "# Operators")


def _not_accepted(delegate: Delegate) -> str:
    return f"{delegate.name} does not take this operator."


def _rows(rule: OpRule) -> Iterator[tuple[str, str, str, str]]:
    if rule.accepted_early is not None:
        early = rule.accepted_early
        yield "", f"{early.needed}: accepted at once", when(early), early.code
    for number, check in enumerate(rule.checks, 1):
        yield str(number), check.needed, when(check), check.code


def _check_entry(check: Check) -> dict[str, Any]:
    names: Iterable[str] = ("code", "kind", "needed", "hint", "since", "below", "accelerator")
    releases = {name: None if (release := getattr(check, name)) is None else str(release) for name in ("introduced", "withdrawn")}
    return {**{name: getattr(check, name) for name in names}, **releases}


def _escaped(text: str) -> str:
    return "".join([f"\\{character}" if character in r"\`*|<" else character for character in text])
