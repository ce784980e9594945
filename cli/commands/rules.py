"""``delegate-sim rules``."""

from __future__ import annotations

import json
from typing import Any

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES, find_delegate
from delegate_sim.model import schema
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.results.rule_changes import rule_changes
from delegate_sim.rules.rule import OpRule

from ..delegate_flags import DelegateName
from ..suggestions import suggestion
from ..terminal import width, write
from ..text.rules import OTHERS, changes_entry, changes_text, rules_entry, rules_markdown, rules_text

_EPILOG = """\b
Examples:
  delegate-sim rules --op CONV_2D
  delegate-sim rules --format markdown > nnapi.md
  delegate-sim rules --format json
  delegate-sim rules --delegate xnnpack --changes --since litert-1.4.0

A condition applies only to the targets that its "when" names: levels are feature levels (27 to 1000008 for nnapi), from the
first one named up to but excluding the second. "explain CODE" tells what a code means.
"""


@click.command("rules", epilog=_EPILOG)
@click.option(
    "--delegate", "name", default=DEFAULT_DELEGATE, show_default=True, type=DelegateName(DELEGATE_NAMES), help="The delegate."
)
@click.option("--op", metavar="OP", help="Only this operator, such as CONV_2D.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    show_default=True,
    help="Text to read, JSON for programs, or Markdown for documentation.",
)
@click.option("--changes", is_flag=True, help="Show what releases of the runtime changed instead.")
@click.option("--since", metavar="RELEASE", help="With --changes: only changes after this release.")
def command(name: str, op: str | None, form: str, changes: bool, since: str | None) -> None:
    """Show what a delegate accepts: the conditions for each operator, in the order in which the delegate tests them."""
    delegate = find_delegate(name)
    if since is not None and not changes:
        raise click.UsageError("--since needs --changes")
    if changes:
        found = rule_changes(delegate, None if since is None else parse_release(since))
        if op is not None:
            found = [change for change in found if change.op in _rule_for(delegate, op)]
        if form == "json":
            write(json.dumps(changes_entry(delegate, found), indent=2) + "\n", "json")
        elif form == "text":
            write(changes_text(delegate, found, since, width()))
        else:
            raise click.UsageError("--changes takes --format text or json")
        return
    rules = _all_rules(delegate) if op is None else _rule_for(delegate, op)
    if form == "json":
        write(json.dumps(rules_entry(delegate, rules), indent=2) + "\n", "json")
    elif form == "markdown":
        write(rules_markdown(delegate, rules, is_whole=op is None), "markdown")
    else:
        write(rules_text(delegate, rules, width()))


def _all_rules(delegate: Delegate) -> dict[str, OpRule[Any] | None]:
    """Return every rule by operator, that of all others last."""
    book = delegate.rules
    return {**dict(sorted(book.rules.items())), **({} if book.others is None else {OTHERS: book.others})}


def _rule_for(delegate: Delegate, op: str) -> dict[str, OpRule[Any] | None]:
    """Return the rule of one operator; None for an operator that exists but that the delegate does not take."""
    if op in delegate.rules.rules:
        return {op: delegate.rules.rules[op]}
    op = op.upper().replace("-", "_")
    known = {*delegate.rules.rules, *schema.enum_names("BuiltinOperator").values()}
    if op not in known:
        raise click.ClickException(f"there is no operator {op}{suggestion(op, known)}")
    return {op: delegate.rules.rule_of(op)}
