"""Check that each place that a rule names upstream exists at the pinned commit.

``python -m tools.sources --tree google-ai-edge/LiteRT=PATH ...`` takes git directories (or clones) of the upstream
repositories and looks for every file and symbol that a rule or check of any delegate names. Nothing of them is copied.
"""

from __future__ import annotations

import argparse
import functools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.rules.source import Source


def named_sources(delegates: Sequence[Delegate]) -> dict[Source, list[str]]:
    """Return every place that rules name, and the operators whose rules name it."""
    found: dict[Source, list[str]] = defaultdict(list)
    for delegate in delegates:
        for book in delegate.rule_books:
            for op, rule in book.rules.items():
                places: list[Any] = [*book.sources_of(rule), *[book.source_of(check, rule) for check in rule.all_checks]]
                for place in dict.fromkeys(places):
                    found[place].append(f"{delegate.name} {op}")
    return found


@functools.cache
def _content(tree: str, commit: str, file: str) -> str | None:
    command = ["git", "-C", tree, "show", f"{commit}:{file}"]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def problem(source: Source, trees: Mapping[str, str]) -> str | None:
    """Return what is wrong with a place; None if its file has the symbol at the pinned commit."""
    tree = trees.get(source.repository.name)
    if tree is None:
        return "no tree is given"
    content = _content(tree, source.repository.commit, source.file)
    if content is None:
        return "no such file at this commit"
    *scopes, name = source.symbol.split("::")
    missing = [part for part in [*scopes, name] if not re.search(rf"\b{re.escape(part)}\b", content)]
    return f"no {missing[0]} in the file" if missing else None


def main() -> int:
    """Check all places and print what is wrong; the exit code is 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", action="append", default=[], metavar="OWNER/NAME=PATH", help="the git tree of a repository")
    trees = dict(pair.split("=", 1) for pair in parser.parse_args().tree)
    sources = named_sources([find_delegate(name) for name in DELEGATE_NAMES])
    wrong = 0
    for source, users in sources.items():
        found = problem(source, trees)
        if found is not None:
            wrong += 1
            print(f"{source.repository.name} {source}: {found} ({', '.join(users[:3])})")
    print(f"{len(sources)} places named, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
