"""What each code in a report means."""

from __future__ import annotations

from delegate_sim.delegates.base import Delegate
from delegate_sim.diagnosis.problems import SUGGESTIONS
from delegate_sim.gate.explanations import GATE
from delegate_sim.rules.kinds import Explanation
from delegate_sim.versions.features import FEATURES


def explanations(delegates: tuple[Delegate, ...]) -> dict[str, Explanation]:
    """Return the meaning of every code that a report can contain."""
    known = {**GATE, **FEATURES, **_suggestions()}
    for delegate in delegates:
        known |= {code: kind.explanation for code, kind in delegate.kinds.items()}
    return known


def _suggestions() -> dict[str, Explanation]:
    """Return the kinds of change that a diagnosis suggests, as explanations."""
    return {
        code: Explanation(suggestion.title, "A change that delegate-sim diagnose suggests.", suggestion.change)
        for code, suggestion in SUGGESTIONS.items()
    }
