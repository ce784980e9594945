"""The rules of a delegate or of TensorFlow Lite Micro, and their changes between releases, as text and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import Option, OptionValues, as_typed, option_as_typed
from delegate_sim.results.accuracy import Accuracy, AccuracyTable
from delegate_sim.results.report.rule_set import RuleChanges
from delegate_sim.rules.book import OTHERS, ListedRules, RuleBook
from delegate_sim.rules.kinds import MALFORMED_OPERANDS
from delegate_sim.rules.rule import Check, OpRule, Source

from ..console.layout import default_text, wrapped

_MALFORMED = (
    f" A node that lacks operands or results of its operator is refused with the code `{MALFORMED_OPERANDS.name}`, even if the "
    "node meets all conditions."
)
_COLUMNS = ("", "needs", "when", "code")
_INDENT, _GAPS, _WIDEST_WHEN = 2, 9, 16
_NARROWEST_NEEDS = 16


def when(check: Check[Any]) -> str:
    """Return the targets of a check as text, or an empty string if the check applies to all targets."""
    words = [condition.words for condition in check.conditions]
    if check.introduced is not None:
        words.append(f"from {check.introduced}")
    if check.withdrawn is not None:
        words.append(f"before {check.withdrawn}")
    return ", ".join(words)


def listed_rules(delegate: Delegate, options: OptionValues) -> ListedRules:
    """Return the rules of a delegate with these options, or of a runtime of whole models."""
    if delegate.runs_whole_models:
        book = delegate.rules
        return ListedRules(delegate.name, delegate.display_name, delegate.summary, book, book.explained, tester="runtime")
    return ListedRules(
        delegate.name,
        f"the delegate {delegate.name}",
        delegate.summary,
        delegate.rules_for(options),
        delegate.kinds,
        delegate.options,
        {name: options[name] for name in delegate.rule_options},
        _which_rules(delegate, options),
    )


def rules_text(shown: ListedRules, width: int) -> str:
    """Return one table for each operator. The tables fit a terminal of this width."""
    from tabulate import tabulate

    book = shown.book
    blocks = [f"What {shown.title} accepts\n"]
    for op, rule in shown.rules.items():
        if rule is None:
            blocks.append(f"{op}\n  {_not_accepted(shown)}\n")
            continue
        rows = list(_rows(book, rule)) or [("", "nothing", "", "")]
        when_width = min(max([len(row[2]) for row in rows]), _WIDEST_WHEN) or len(_COLUMNS[2])
        others = len(str(len(rows))) + max(when_width, len(_COLUMNS[2])) + max([len(row[3]) for row in rows])
        needs_width = max(width - _INDENT - _GAPS - others, _NARROWEST_NEEDS)
        widths = [None, needs_width, _WIDEST_WHEN, None]
        table = tabulate(rows, _COLUMNS, tablefmt="plain", maxcolwidths=widths, disable_numparse=True)
        known = "" if rule.introduced is None else f" (from {rule.introduced})"
        sources = [line for place in _sources(book, op, rule) for line in wrapped(f"source: {place}", width, "  ", "    ")]
        places = "".join([f"{line}\n" for line in sources])
        blocks.append(f"{op}{known}\n" + "".join(f"  {line.rstrip()}\n" for line in table.splitlines()) + places)
    if shown.note:
        blocks.append("".join([f"{line}\n" for line in wrapped(shown.note, width, "", "  ")]))
    return "\n".join(blocks)


def rules_markdown(shown: ListedRules, is_whole: bool) -> str:
    """Return a Markdown table for each operator. If ``is_whole``, add the options and an explanation of each code."""
    book = shown.book
    lines = [
        f"# What {shown.title} accepts",
        "",
        *((shown.summary, "") if shown.summary else ()),
        "A node must meet every condition that applies to the target. The column *when* says when a condition applies. The "
        f"{shown.tester} tests the conditions in this order. {_others(book)}{_MALFORMED if book.reads_operands else ''}",
        *(("", _escaped(shown.note)) if shown.note else ()),
        *(_options(shown.options) if is_whole else ()),
    ]
    for op, rule in shown.rules.items():
        lines += ["", f"## {op}", ""]
        if rule is None:
            lines.append(_not_accepted(shown))
            continue
        if rule.introduced is not None:
            lines += [f"Available from {rule.introduced}.", ""]
        lines += ["| | needs | when | code | source |", "|---|---|---|---|---|"]
        lines += [
            f"| {' | '.join(map(_escaped, row[:3]))} | `{row[3]}` | [`{source.symbol}`][{_label(source)}] |"
            for row, check in zip(_rows(book, rule), rule.all_checks, strict=True)
            for source in [book.source_of(check, rule).of_operator(op)]
        ]
    if is_whole:
        lines += ["", "# Codes"]
        for code, kind in shown.kinds.items():
            title, meaning, advice = map(_escaped, kind.explanation)
            lines += ["", f"## {code}", "", f"*{title}.* {meaning}", "", advice]
    rules = [(op, rule) for op, rule in shown.rules.items() if rule is not None]
    links = {_label(source): source.url for op, rule in rules for source in _sources(book, op, rule)}
    lines += ["", *[f"[{label}]: {url}" for label, url in sorted(links.items())]]
    return "\n".join(lines) + "\n"


def changes_text(result: RuleChanges, since: str | None, width: int) -> str:
    """Return the conditions that each release removed and added, operator by operator."""
    delegate, changes = result.delegate, result.changes
    if not changes:
        after = since or delegate.history.known_since
        return f"{delegate.name}: no change of a rule is known{f' after {after}' if after else ''}.\n"
    lines = [f"Changes of the rules of {delegate.name}", ""]
    release = None
    for change in changes:
        if change.release != release:
            lines += [*([""] if release is not None else []), f"{change.release}"]
            release = change.release
        lines.append(f"  {change.op}{': new' if change.is_new else ''}")
        for sign, checks in (("-", change.dropped), ("+", change.added)):
            for check in checks:
                lines += wrapped(f"{sign} needs {check.demand} ({delegate.rules.code_of(check.kind)})", width, "    ", "      ")
    return "\n".join(lines) + "\n"


def _options(options: Sequence[Option]) -> Iterator[str]:
    if not options:
        return
    yield from ("", "# Options", "", "| option | meaning | default | default of benchmark_model |", "|---|---|---|---|")
    for option in options:
        values = [default_text(option.default_in(defaults)) for defaults in ("api", "benchmark")]
        name = f"`{option.key}`" if option.name == option.key else f"`{option.key}` (`{option.name}`)"
        yield f"| {name} | {_escaped(option.described)} | {' | '.join(map(_escaped, values))} |"
    yield from ("", "# Operators")


def _which_rules(delegate: Delegate, options: OptionValues) -> str:
    if not delegate.rule_options:
        return ""
    given = " ".join([as_typed(delegate.options, name, default_text(options[name])) for name in delegate.rule_options])
    others = " and ".join([option_as_typed(delegate.options, name) for name in delegate.rule_options])
    return f"These are the rules for {given}. Other values of {others} select other rules."


def _others(book: RuleBook[Any]) -> str:
    if book.others is None:
        return "Operators that are not listed are refused."
    if book.unknown_custom is None:
        return "Operators that are not listed are accepted."
    return (
        f"Builtin operators that are not listed must meet the conditions of *{OTHERS}*. Custom operators that are not listed "
        "are refused."
    )


def _not_accepted(shown: ListedRules) -> str:
    return f"{shown.name} does not support this operator."


def _rows(book: RuleBook[Any], rule: OpRule[Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of an operator. If conditions have equal text, the name of the upstream function is added."""
    if rule.accepted_early is not None:
        early = rule.accepted_early
        yield "", f"{early.needed}: accepted without further conditions", when(early), book.code_of(early.kind)
    repeated = Counter((check.demand, when(check)) for check in rule.checks)
    for number, check in enumerate(rule.checks, 1):
        needs = check.demand
        if repeated[needs, when(check)] > 1:
            needs = f"{needs} [{book.source_of(check, rule).symbol}]"
        yield str(number), needs, when(check), book.code_of(check.kind)


def _label(source: Source) -> str:
    return f"{source.location.rpartition('/')[2]}@{source.repository.commit[:9]}"


def _sources(book: RuleBook[Any], op: str, rule: OpRule[Any]) -> list[Source]:
    places = [*book.sources_of(rule), *[book.source_of(check, rule) for check in rule.all_checks]]
    return list(dict.fromkeys([place.of_operator(op) for place in places]))


def _escaped(text: str) -> str:
    return "".join([f"\\{character}" if character in r"\`*|<" else character for character in text])


_TITLE = "How often the simulation agrees with recorded verdicts of real delegates"
_INTRODUCTION = (
    "This page says for each target how many results of the simulation agree with records of the real code, and what is not "
    "simulated. It is for users who want to know how far to trust an answer. The records are verdicts of the real delegates, "
    "plugins and runtimes on thousands of models; the records and the models are not part of the package. Where the table names "
    "a number of models, a fixed random sample of this size was compared."
)
_UNSEEN = (
    "The records above were known while the rules were written. The table below is about public bug reports and device logs that "
    "nobody had read before. An expert wrote down the right answer first, then the tool answered, and then the defects "
    "were mended. The figures are from before the mends."
)
_AGAIN = (
    "`make accuracy` measures again and writes `delegate_sim/results/accuracy.json`, if the records are beside the checkout "
    "(`../shared`). `make accuracy ARGS=--all` compares all models, which takes hours. `delegate-sim rules --accuracy` prints "
    "these tables."
)


def accuracy_text(table: AccuracyTable, width: int) -> str:
    """Return a paragraph for each target, then the results on unseen material. The text fits a terminal of this width."""
    lines = [_TITLE]
    for entry in table.targets:
        lines += ["", *wrapped(f"{entry.target}: {entry.records}, {entry.releases}", width, "", "  ")]
        lines += wrapped(f"{_agreement(entry)} ({_how_measured(entry)})", width, "  ", "    ")
        lines += wrapped(f"not simulated: {entry.not_simulated}", width, "  ", "    ")
    lines += ["", "Public bug reports and device logs that nobody had read before"]
    for unseen in table.unseen:
        counts = f"{unseen.right} right, {unseen.partly} partly right, {unseen.silent} without an answer, {unseen.wrong} wrong"
        lines += wrapped(f"{unseen.material} ({unseen.month}): {counts}", width, "  ", "    ")
    return "\n".join(lines) + "\n"


def accuracy_markdown(table: AccuracyTable) -> str:
    """Return the page of the documentation."""
    return "\n".join(_page(table)) + "\n"


def _page(table: AccuracyTable) -> Iterator[str]:
    yield from (f"# {_TITLE}", "", _INTRODUCTION, "", "## Which results agree?", "")
    yield "| target | records of | releases | agree | measured | not simulated |"
    yield "|---|---|---|---|---|---|"
    for entry in table.targets:
        cells = (f"`{entry.target}`", entry.records, entry.releases, _agreement(entry), _how_measured(entry), entry.not_simulated)
        yield f"| {' | '.join(cells)} |"
    yield from ("", "## How good are answers to new questions?", "", _UNSEEN, "")
    yield "| material | month | right | partly right | no answer | wrong |"
    yield "|---|---|---|---|---|---|"
    for row in table.unseen:
        yield f"| {row.material} | {row.month} | {row.right} | {row.partly} | {row.silent} | {row.wrong} |"
    yield from ("", "## How to measure again", "", _AGAIN)


def _agreement(entry: Accuracy) -> str:
    return "; ".join([f"{part.kind} {part.agree:,} of {part.compared:,}" for part in entry.agreement])


def _how_measured(entry: Accuracy) -> str:
    return f"{entry.measured}, {'all models' if entry.sample is None else f'{entry.sample} models of each corpus'}"
