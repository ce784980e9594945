"""Find what keeps nodes of a model on the CPU: ``delegate_sim.diagnose``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..delegates.registry import DELEGATE_NAMES
from ..diagnosis.diagnose import diagnose as diagnose_target
from ..diagnosis.diagnose import find_open_question
from ..diagnosis.diagnosis import Diagnosis
from ..graph.effort import Effort
from ..model.model import Model
from ..runtime.target import Target, ignore_identifier
from .arguments import target_of, targets_with, timings_of
from .calls import ModelLike, PathsLike, model_of, public


@public
def diagnose(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str | None = None,
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
    device: str | None = None,
) -> Diagnosis:
    """Find the causes that keep nodes of a model on the CPU, and what to change.

    Takes the arguments of ``analyze``. With ``device``, the first delegate of the device is diagnosed. Without a delegate,
    options and profiles, the accelerator that is the closest to running the whole model is diagnosed. Refusals share a cause
    if one change would remove all of them. The result's ``findings`` lists the causes, biggest gain first. Each finding has
    the outcome that is predicted if its cause is fixed. With ``op_profile``, the causes are ranked by measured time, and the
    result's ``times`` has the times and bounds on the time that each fix saves. Raises the errors of ``analyze``.
    """
    target = targets_with(device, delegate, options, runtime, defaults, assume_ops_registered)[0]
    loaded = model_of(model, any_identifier=ignore_identifier([target]))
    if device is None and delegate is None and not options and not op_profile:
        target = _open_question(loaded, target)
    timings = timings_of(op_profile, loaded, [target])
    if not timings:
        return diagnose_target(loaded, target)
    from ..timing.fixes import timed_diagnosis  # slow to import, and only needed for profiles

    return timed_diagnosis(loaded, target, timings)[0]


def _open_question(model: Model, target: Target) -> Target:
    """Return the target to diagnose if no delegate is named. It has the release and defaults of ``target``. Raises LimitError."""
    further = (str(target.release), target.defaults, target.assume_ops_registered)
    return find_open_question(model, [target_of(name, None, *further) for name in DELEGATE_NAMES], Effort(model)).target
