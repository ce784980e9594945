"""The agreement with recorded verdicts, as text and Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.results.accuracy import Accuracy, AccuracyTable

from ..console.layout import wrapped

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
        lines += wrapped(f"{_agreement(entry)} ({_how(entry)})", width, "  ", "    ")
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
        cells = (f"`{entry.target}`", entry.records, entry.releases, _agreement(entry), _how(entry), entry.not_simulated)
        yield f"| {' | '.join(cells)} |"
    yield from ("", "## How good are answers to new questions?", "", _UNSEEN, "")
    yield "| material | month | right | partly right | no answer | wrong |"
    yield "|---|---|---|---|---|---|"
    for row in table.unseen:
        yield f"| {row.material} | {row.month} | {row.right} | {row.partly} | {row.silent} | {row.wrong} |"
    yield from ("", "## How to measure again", "", _AGAIN)


def _agreement(entry: Accuracy) -> str:
    return "; ".join([f"{part.kind} {part.agree:,} of {part.compared:,}" for part in entry.agreement])


def _how(entry: Accuracy) -> str:
    return f"{entry.measured}, {'all models' if entry.sample is None else f'{entry.sample} models of each corpus'}"
