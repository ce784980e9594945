"""How a rule of ML Drift is put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....rules.rule import Check, OpRule
from ....rules.source import Source
from ..measured import as_measured
from .checks import SINCE_2_1_5, SOURCE, before, since
from .reading import RESULTS


def parsed_by(parser: str, *checks: Check[object], source: Source = SOURCE) -> OpRule[object]:
    """Return the rule of an operator that a class reads; checks that name no place are those of its ``IsSupported``."""
    place = source.with_symbol(f"{parser}::IsSupported")
    dated = as_measured(*_results_last_before(checks))
    return OpRule(tuple([each if each.source else each.from_source(place) for each in dated]), source=(place,))


def _results_last_before(checks: Iterable[Check[object]]) -> Iterator[Check[object]]:
    """Before LiteRT 2.1.5 results were looked at last, whatever the order in the newer sources."""
    has_results = False
    for each in checks:
        is_of_results = each in RESULTS
        has_results |= is_of_results
        yield from since(SINCE_2_1_5, each) if is_of_results else (each,)
    if has_results:
        yield from before(SINCE_2_1_5, *RESULTS)


SEEN_FIRST = since(SINCE_2_1_5, *RESULTS)
"""Demands on results that were not yet made first before LiteRT 2.1.5."""
