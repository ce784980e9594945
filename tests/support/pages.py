"""Views of models for pages."""

from __future__ import annotations

from pathlib import Path

import delegate_sim
from delegate_sim.api.arguments import target_of
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.page.content import PageView

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"


def views(*models, delegates=("nnapi",), **options):
    """Return the views of models on delegates, with their causes."""
    found = []
    for model in map(delegate_sim.load, models):
        for delegate in delegates:
            diagnosis = diagnose(model, target_of(delegate, options, None, "benchmark"))
            found.append(PageView(model, diagnosis.run, diagnosis))
    return found
