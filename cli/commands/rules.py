"""``delegate-sim rules``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import OptionValues, parse_options
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES, find_delegate
from delegate_sim.model import schema
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.results.compare.rule_changes import rule_changes
from delegate_sim.rules.book import RuleBook
from delegate_sim.rules.rule import OpRule

from ..console.terminal import TEXT_OR_JSON, format_option, width, write
from ..options.delegate_flags import DelegateName, given_options
from ..suggestions import suggestion
from ..text.rules import OTHERS, changes_entry, changes_text, rules_entry, rules_markdown, rules_text

_EPILOG = """\b
Examples:
  delegate-sim rules --op CONV_2D
  delegate-sim rules --format markdown > nnapi.md
  delegate-sim rules --format json
  delegate-sim rules --delegate xnnpack --changes --since litert-1.4.0
  delegate-sim rules --delegate vx-nxp --option release=lf-6.6.3 --op MEAN

A condition applies only to the targets that its "when" names: levels are feature levels (27 to 1000008 for nnapi), from the
first one named up to but excluding the second. "explain CODE" tells what a code means.
"""


@click.command("rules", epilog=_EPILOG)
@click.option(
    "--delegate", "name", default=DEFAULT_DELEGATE, show_default=True, type=DelegateName(DELEGATE_NAMES), help="The delegate."
)
@click.option(
    "--option",
    "pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the delegate that chooses among several sets of rules, where it has any.",
)
@click.option("--op", metavar="OP", help="Only this operator, such as CONV_2D.")
@format_option("Text to read, JSON for programs, or Markdown for documentation.", (*TEXT_OR_JSON, "markdown"))
@click.option("--changes", is_flag=True, help="Show what releases of the runtime changed instead.")
@click.option("--since", metavar="RELEASE", help="With --changes: only changes after this release.")
def command(name: str, pairs: tuple[str, ...], op: str | None, form: str, changes: bool, since: str | None) -> None:
    """Show what a delegate accepts: the conditions for each operator, in the order in which the delegate tests them."""
    delegate = find_delegate(name)
    if since is not None and not changes:
        raise click.UsageError("--since needs --changes")
    if changes and pairs:
        raise click.UsageError("--option is not for --changes")
    options = _options(delegate, pairs)
    book = delegate.rules_for(options)
    if changes:
        selected = rule_changes(delegate, None if since is None else parse_release(since))
        if op is not None:
            selected = [change for change in selected if change.op in _rule_for(book, op)]
        if form == "json":
            write(json.dumps(changes_entry(delegate, selected), indent=2) + "\n", "json")
        elif form == "text":
            write(changes_text(delegate, selected, since, width()))
        else:
            raise click.UsageError("--changes takes --format text or json")
        return
    rules = _all_rules(book) if op is None else _rule_for(book, op)
    if form == "json":
        write(json.dumps(rules_entry(delegate, options, rules), indent=2) + "\n", "json")
    elif form == "markdown":
        write(rules_markdown(delegate, options, rules, is_whole=op is None), "markdown")
    else:
        write(rules_text(delegate, options, rules, width()))


def _options(delegate: Delegate, pairs: Sequence[str]) -> OptionValues:
    """Return the values of all options of a delegate. ``pairs`` has the given options; all others have their defaults.

    Raises ClickException if a given option has no effect on the rules.
    """
    (given,) = given_options((delegate,), pairs, {})
    for key in given:
        if key not in delegate.rule_options:
            others = f"; {', '.join(delegate.rule_options)} chooses among several" if delegate.rule_options else ""
            raise click.ClickException(f"the rules of {delegate.name} are the same whatever {key} is{others}")
    return parse_options(delegate.name, delegate.options, given)


def _all_rules(book: RuleBook[Any]) -> dict[str, OpRule[Any] | None]:
    """Return every rule, keyed by operator; the rule for all other operators comes last."""
    return {**dict(sorted(book.rules.items())), **({} if book.others is None else {OTHERS: book.others})}


def _rule_for(book: RuleBook[Any], op: str) -> dict[str, OpRule[Any] | None]:
    """Return the rule of one operator, keyed by operator. The rule is None if the delegate does not support the operator."""
    if op in book.rules:
        return {op: book.rules[op]}
    op = op.upper().replace("-", "_")
    known = {*book.rules, *schema.enum_names("BuiltinOperator").values()}
    if op not in known:
        raise click.ClickException(f"there is no operator {op}{suggestion(op, known)}")
    return {op: book.rule_of(op)}
