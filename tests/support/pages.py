"""Views of models for pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import delegate_sim
from delegate_sim.api.arguments import target_of
from delegate_sim.device.parse.log import read_log
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.micro.delegate import micro_target
from delegate_sim.page.content import PageView
from delegate_sim.timing.matching import match_profile
from delegate_sim.timing.measured import OpProfile
from fixtures.op_profiles import ms_by_node, profiled_rows, write_profile

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"


def views(*models, delegates=("nnapi",), **options):
    """Return the views of models on delegates, with their causes."""
    found = []
    for model in map(delegate_sim.load, models):
        for delegate in delegates:
            diagnosis = diagnose(model, target_of(delegate, options, None, "benchmark"))
            found.append(PageView(model, diagnosis.run, diagnosis))
    return found


def timed_view(model):
    """Return a view with the times of a generated profile, in which each kernel takes more than 5 ms."""
    (view,) = views(model)
    log = read_log(write_profile(profiled_rows(view.run, ms_by_node(view.model))))
    timing = match_profile(OpProfile("profile.txt", log), view.model, view.run.target)
    return replace(view, timings=(timing,))


def micro_view(model, **application):
    """Return the view of a model on TensorFlow Lite Micro."""
    diagnosis = diagnose(delegate_sim.load(model), micro_target(**application))
    return PageView(diagnosis.model, diagnosis.run, diagnosis)
