"""``delegate-sim rules``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.devices import find_device
from delegate_sim.delegates.options import OptionValues, parse_options
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, MICRO_NAME, find_delegate
from delegate_sim.foundation.columns import Declared
from delegate_sim.foundation.printable import suggestion
from delegate_sim.model import schema
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.results.accuracy import accuracy as accuracy_table
from delegate_sim.results.report.rule_set import RuleChanges, rule_changes
from delegate_sim.rules.book import OTHERS, RuleBook
from delegate_sim.rules.rule import OpRule
from delegate_sim.runtime.device_targets import delegates_of_devices

from ..console.output_file import FileCommand, Outputs, gathered, output_option, single_output
from ..console.terminal import TEXT_OR_JSON, Line, add_first_line, format_option, width, write_result, write_to
from ..options.delegate_flags import given_options
from ..options.targets import ONE_DELEGATE_OPTION, configured_targets, devices_option, pairs_option
from ..text.rules import accuracy_markdown, accuracy_text, changes_text, listed_rules, rules_markdown, rules_text

_EPILOG = """\b
Examples:
  delegate-sim rules --op CONV_2D
  delegate-sim rules --device imx8mp --op CONV_2D
  delegate-sim rules --format markdown -o nnapi.md
  delegate-sim rules --format json
  delegate-sim rules --delegate xnnpack --changes --since litert-1.4.0
  delegate-sim rules --delegate vx-nxp --option release=lf-6.6.3 --op MEAN
  delegate-sim rules --micro --op CONV_2D
  delegate-sim rules --accuracy

A condition applies only to the targets in the column "when". Levels are feature levels (27 to 1000008 for nnapi). A range does
not include its second level. "delegate-sim explain CODE" explains a code.
"""


@click.command("rules", cls=FileCommand, epilog=_EPILOG)
@ONE_DELEGATE_OPTION
@devices_option("A phone, SoC or board: the rules of the delegate that an application should try first there.")
@pairs_option("An option of the delegate that selects one of several sets of rules.")
@click.option("--micro", is_flag=True, help="Show the rules of TensorFlow Lite Micro instead of a delegate's rules.")
@click.option("--op", metavar="OP", help="Only this operator, such as CONV_2D.")
@format_option("Text to read, JSON for programs, or Markdown for documentation.", (*TEXT_OR_JSON, "markdown"))
@click.option("--accuracy", is_flag=True, help="Show how often all targets agree with recorded verdicts, instead of the rules.")
@click.option("--changes", is_flag=True, help="Show what each release of the runtime changed in the rules, instead of the rules.")
@click.option("--since", metavar="RELEASE", help="With --changes: show only changes after this release.")
@output_option()
@gathered("outputs", single_output)
def command(
    delegate: str | None,
    named_devices: tuple[str, ...],
    pairs: tuple[str, ...],
    micro: bool,
    op: str | None,
    outputs: Outputs,
    accuracy: bool,
    changes: bool,
    since: str | None,
) -> None:
    """Show what a delegate accepts: the conditions for each operator, in the order in which the delegate tests them."""
    if accuracy:
        if delegate or named_devices or pairs or micro or op or changes or since:
            raise click.UsageError("--accuracy takes only --format and --output")
        table = accuracy_table()
        _write(outputs, table, lambda: accuracy_text(table, width()), lambda: accuracy_markdown(table))
        return
    if since is not None and not changes:
        raise click.UsageError("--since needs --changes")
    if changes and pairs:
        raise click.UsageError("--changes does not take --option")
    if changes and outputs.form == "markdown":
        raise click.UsageError("with --changes, --format must be text or json")
    if micro and (delegate or named_devices or pairs or changes):
        raise click.UsageError("--micro takes none of --delegate, --device, --option and --changes")
    if named_devices and (delegate or pairs):
        raise click.UsageError("give --delegate and --option, or --device: a device has its own delegates")
    if len(named_devices) > 1:
        raise click.UsageError("rules takes a single --device")
    delegate = MICRO_NAME if micro else delegate
    if named_devices:
        delegate, own = delegates_of_devices(named_devices)[0]
        chosen = find_delegate(delegate)
        options = parse_options(delegate, chosen.options, dict(own), "api")
        add_first_line(f"{find_device(named_devices[0]).title}: {delegate}")
    else:
        configured = [] if delegate or pairs else configured_targets(only_first=True)
        chosen = configured[0].delegate if configured else find_delegate(delegate or DEFAULT_DELEGATE)
        options = configured[0].options if configured else _options(chosen, pairs)
    book = chosen.rules_for(options)
    if changes:
        selected = rule_changes(chosen, None if since is None else parse_release(since))
        if op is not None:
            selected = [change for change in selected if change.op in _rule_for(book, op)]
        result = RuleChanges(chosen, selected)
        _write(outputs, result, lambda: changes_text(result, since, width()))
        return
    every = {**dict(sorted(book.rules.items())), **({} if book.others is None else {OTHERS: book.others})}
    shown = replace(listed_rules(chosen, options), rules=every if op is None else _rule_for(book, op))
    _write(outputs, shown, lambda: rules_text(shown, width()), lambda: rules_markdown(shown, is_whole=op is None))


def _write(outputs: Outputs, result: Declared, text: Callable[[], str], markdown: Callable[[], str] = str) -> None:
    if outputs.form == "markdown":
        write_to(markdown(), outputs.form, outputs.output)
    else:
        write_result(outputs, result.to_dict, lambda: list(map(Line, text().splitlines())))


def _options(delegate: Delegate, pairs: Sequence[str]) -> OptionValues:
    """Return the values of all options of a delegate. Options that are not in ``pairs`` have their defaults.

    Raises ClickException if an option in ``pairs`` has no effect on the rules.
    """
    (given,) = given_options((delegate,), pairs, {})
    for key in given:
        if key not in delegate.rule_options:
            others = f"; only {', '.join(delegate.rule_options)} selects another set of rules" if delegate.rule_options else ""
            raise click.ClickException(f"the rules of {delegate.name} do not depend on {key}{others}")
    return parse_options(delegate.name, delegate.options, given)


def _rule_for(book: RuleBook[Any], op: str) -> dict[str, OpRule[Any] | None]:
    if op in book.rules:
        return {op: book.rules[op]}
    op = op.upper().replace("-", "_")
    known = {*book.rules, *schema.enum_names("BuiltinOperator").values()}
    if op not in known:
        raise click.ClickException(f"there is no operator {op}{suggestion(op, known)}")
    return {op: book.rule_of(op)}
