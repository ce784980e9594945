"""What several formats need: where a model is, how all went in a sentence, and numbers beside the baseline's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from delegate_sim.gate.results import BETTER, FAILED, UNREADABLE, Case, Results, fingerprints
from delegate_sim.results.findings import Finding
from delegate_sim.results.measures import Measures
from delegate_sim.text import printable

from ..layout import counted, cut, name, option_value, share

PROGRAM = "delegate-sim"

NUMBERS = ("partitions", "delegate kernels", "fallback nodes", "delegated share", "border bytes")
"""What ``numbers`` returns, in its order."""

_REPOSITORY_VARIABLES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
_WORDS = {FAILED: "failed", UNREADABLE: "unreadable", BETTER: "better than the baseline"}
"""What is said of those that did not simply pass."""
_LONGEST_MODEL = 200
_LONGEST_PATH = 4096


def repository_path(case: Case) -> str:
    """Return the path of a case's model with forward slashes, safe to print.

    It is relative to the repository if GitHub or GitLab say where that is and the model lies inside; otherwise as given.
    """
    return cut(printable(_repository_path(case.path)), _LONGEST_PATH)


def _repository_path(path: str) -> str:
    roots = [os.environ[variable] for variable in _REPOSITORY_VARIABLES if os.environ.get(variable)]
    for root in roots:
        # A checkout may be reached through a symbolic link, and a model may be one that leads out of it.
        for resolved in (os.path.abspath, os.path.realpath):
            try:
                return Path(resolved(path)).relative_to(resolved(root)).as_posix()
            except ValueError:
                continue
    return Path(path).as_posix()


def model_name(case: Case) -> str:
    """Return the name of a case's model, safe to print and not endless."""
    return cut(printable(case.model), _LONGEST_MODEL)


def title(case: Case) -> str:
    """Return model and target."""
    return f"{model_name(case)} on {name(case.target)}"


def target_text(case: Case) -> str:
    """Return the delegate, the release of the runtime, and the options that are set."""
    options = [f"{key}={option_value(value)}" for key, value in case.options.items() if value not in (None, (), [])]
    return f"{case.delegate} on {case.runtime}{': ' if options else ''}{' '.join(options)}"


def verdict(results: Results) -> str:
    """Return in one line how all cases went."""
    counts = [f"{results.count(status):,} {word}" for status, word in _WORDS.items() if results.count(status)]
    total = counted(len(results.cases), "case") + (f" ({', '.join(counts)})" if counts else "")
    if results.command != "check":
        return f"analysed: {total}"
    return f"{'failed' if results.count(FAILED) or results.count(UNREADABLE) else 'passed'}: {total}"


def state(case: Case, command: str) -> str:
    """Return what became of a case: its status in a check; in an analysis, which knows no other, what the runtime does."""
    return case.measures.outcome if case.measures is not None and command != "check" else case.status


def numbers(case: Case) -> list[str]:
    """Return the numbers of a case, each after what the baseline says where that is another; all empty without any."""
    now, base = (_texts(measures) for measures in (case.measures, case.baseline))
    return [_beside(was, found) for was, found in zip(base, now, strict=True)]


def _texts(measures: Measures | None) -> list[str]:
    if measures is None:
        return [""] * len(NUMBERS)
    counts = (measures.partitions, measures.delegate_kernels, measures.fallback_nodes)
    part = share(measures.delegated_nodes, measures.nodes) if measures.nodes else share(1, 1)
    return [*[f"{count:,}" for count in counts], part, f"{measures.border_bytes:,}"]


def _beside(base: str, now: str) -> str:
    if not now:
        return f"was {base}" if base else ""
    return f"{base} -> {now}" if base and base != now else now


def identified_findings(results: Results) -> Iterator[tuple[Case, Finding, str]]:
    """Return every finding with its case and its fingerprint, in the order of the cases."""
    for case in results.cases:
        for finding, fingerprint in zip(case.findings, fingerprints(case), strict=True):
            yield case, finding, fingerprint
