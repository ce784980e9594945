"""Helpers that several formats share: paths of models, one-line verdicts, and comparisons of numbers with the baseline."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from delegate_sim.delegates.registry import DELEGATE_NAMES, LIVE_ONLY_NAMES, find_live
from delegate_sim.foundation.printable import printable
from delegate_sim.gate.results import BETTER, FAILED, UNREADABLE, Case, Results
from delegate_sim.results.report.findings import Finding
from delegate_sim.results.report.measures import Measures, outcome_text
from delegate_sim.results.report.multiply_adds import ComputeTotals
from delegate_sim.results.report.outcome_words import words_of

from ..console.layout import counted, cut, message, name, options_text, share
from ..text.elements.findings import alike, finding_hint, finding_text
from ..text.elements.measures import FURTHER_TITLES, further_cells, share_cell
from ..text.elements.verdict import shown_options

PROGRAM = "delegate-sim"


def number_titles(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return titles for the columns of ``numbers``. The words depend on whether cases have delegates or compiler plugins."""
    words = list(dict.fromkeys([words_of(case.delegate) for case in cases])) or [words_of("")]
    kernels, left = (" / ".join(titles) for titles in zip(*[(kind.kernels, kind.left_nodes) for kind in words], strict=True))
    return ("partitions", kernels, left, "delegated share", "multiply-adds", *FURTHER_TITLES)


_REPOSITORY_VARIABLES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
_WORDS = {FAILED: "failed", UNREADABLE: "unreadable", BETTER: "better than the baseline"}
"""The words for a status. The status "passed" needs no words."""
_LONGEST_MODEL = 200
_LONGEST_PATH = 4096


def repository_path(case: Case) -> str:
    """Return the path of a case's model with forward slashes, safe to print.

    An environment variable of GitHub or GitLab names the folder of the repository. If the model is inside this folder, the path
    is relative to the folder. Otherwise, the path is returned as the user gave it.
    """
    return cut(printable(_repository_path(case.path)), _LONGEST_PATH)


def _repository_path(path: str) -> str:
    roots = [os.environ[variable] for variable in _REPOSITORY_VARIABLES if os.environ.get(variable)]
    for root in roots:
        # The path of the checkout may contain a symbolic link, or the model may be a link to a file outside the checkout.
        for resolved in (os.path.abspath, os.path.realpath):
            try:
                return Path(resolved(path)).relative_to(resolved(root)).as_posix()
            except ValueError:
                continue
    return Path(path).as_posix()


def model_name(case: Case) -> str:
    """Return the name of a case's model, safe to print and shortened."""
    return cut(printable(case.model), _LONGEST_MODEL)


def title(case: Case) -> str:
    """Return a title with the model and the target of a case."""
    return f"{model_name(case)} on {name(case.target)}"


def target_text(case: Case) -> str:
    """Return the delegate, the release of the runtime, and the options that differ from benchmark_model's defaults."""
    known = case.delegate in (*DELEGATE_NAMES, *LIVE_ONLY_NAMES)
    options = shown_options(find_live(case.delegate), case.options, "benchmark") if known else options_text((), case.options)
    return f"{case.delegate} on {case.runtime}{': ' if options else ''}{options}"


def verdict(results: Results) -> str:
    """Return a one-line summary of all cases."""
    counts = [f"{results.count(status):,} {word}" for status, word in _WORDS.items() if results.count(status)]
    total = counted(len(results.cases), "case") + (f" ({', '.join(counts)})" if counts else "")
    if results.command != "check":
        return f"analyzed: {total}"
    return f"{'failed' if results.count(FAILED) or results.count(UNREADABLE) else 'passed'}: {total}"


def state(case: Case, command: str) -> str:
    """Return the status of a case in a check, or the outcome of a case in an analysis."""
    return outcome_text(case.measures.outcome) if case.measures is not None and command != "check" else case.status


def numbers(case: Case) -> list[str]:
    """Return the numbers of a case as text. If a number differs from the baseline, the text is ``old -> new``.

    If the case has no numbers, the texts are empty.
    """
    now, base = _texts(case.measures, case.compute), _texts(case.baseline, case.baseline_compute)
    return [_beside(old, new) for old, new in zip(base, now, strict=True)]


def _texts(measures: Measures | None, compute: ComputeTotals | None) -> list[str]:
    if measures is None:
        return [""] * len(number_titles([]))
    counts = (measures.partitions, measures.delegate_kernels, measures.fallback_nodes)
    part = share_cell(measures, measures.delegated_nodes, measures.nodes) if measures.nodes else share(1, 1)
    work = ""
    if compute is not None and compute.multiply_adds:
        work = share_cell(measures, compute.delegated_multiply_adds, compute.multiply_adds)
    return [*[f"{count:,}" for count in counts], part, work, *further_cells(measures)]


def _beside(base: str, now: str) -> str:
    if not now:
        return f"was {base}" if base else ""
    return f"{base} -> {now}" if base and base != now else now


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of a case that make the same statement about several nodes. The fingerprint is the same in every run."""

    case: Case
    members: Sequence[Finding]
    fingerprint: str

    @property
    def first(self) -> Finding:
        """The first finding. All findings of the group have the same code, level and operator."""
        return self.members[0]

    @property
    def text(self) -> str:
        """The findings in one sentence, safe to print."""
        return message(finding_text(self.members))

    @property
    def hint(self) -> str:
        """The advice on the findings, safe to print."""
        return message(finding_hint(self.members))


def grouped_findings(results: Results) -> Iterator[Group]:
    """Yield the findings of all cases in groups. Findings that differ only in nodes and numbers form a group.

    The fingerprint of a group is a hash of model, target, code, subgraph and operator. New or removed nodes do not change the
    fingerprint. If several groups have the same five properties, their fingerprints also depend on the order of their first
    nodes.
    """
    for case in results.cases:
        groups = alike(case.findings)
        seen: Counter[tuple[str, ...]] = Counter()
        fingerprints: dict[int, str] = {}
        for members in sorted(groups, key=lambda members: members[0].location.node or 0):
            place = members[0].location
            key = (case.model, case.target, members[0].code, str(place.subgraph), place.op)
            text = "\0".join([*key, str(seen[key])])
            seen[key] += 1
            fingerprints[id(members)] = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        for members in groups:
            yield Group(case, members, fingerprints[id(members)])


_ENTITIES = {"&": "&amp;", "<": "&lt;", "|": "&#124;"}
"""Characters that are written as entities.

A backslash does not reliably escape a bar, because the effect depends on earlier backslashes.
"""

_BREAK = "&#8203;"
"""A zero-width space. It prevents links for mentions and references on GitHub, where backslashes do not help."""

_SPECIAL = re.compile(
    r"""
    [&<|]
    | (?P<reference> @ | \#(?=\d) | \bGH-(?=\d) )
    | (?P<number> ^\d+(?=[.)]) )
    | [\\`*\[\]~$] | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9])
    | ^[#+\-=>] | :(?=//) | (?<=www)\.
    """,
    re.VERBOSE | re.IGNORECASE,
)


def text(plain: str) -> str:
    """Return one printable line escaped for Markdown, without surrounding space."""
    return _SPECIAL.sub(_escaped, plain.strip())


def _escaped(match: re.Match[str]) -> str:
    special = match[0]
    if match["reference"]:
        return f"{special}{_BREAK}"
    if match["number"]:
        return f"{special}\\"
    return _ENTITIES.get(special, f"\\{special}")


def code(plain: str) -> str:
    """Return printable text as inline code. The text must not contain a backtick."""
    return f"`{plain}`"


def code_block(lines: Iterable[str]) -> str:
    """Return printable lines as a fenced code block."""
    content = "\n".join(lines)
    fence = max(["``", *re.findall("`+", content)], key=len) + "`"
    return f"{fence}\n{content}\n{fence}"


def row(cells: Iterable[str]) -> str:
    """Return a table row from cells that are already Markdown."""
    return f"| {' | '.join(cells)} |"
