"""The refusals of the whole graph that several targets share, and the command that mends unknown sizes of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..graph.effort import Effort
from ..model.model import Model
from ..results.report.blockers import has_open_input
from ..rules.kinds import DYNAMIC_TENSORS
from ..runtime.interpreter import REFUSED, Run
from .advice.commands import fix_command
from .advice.plain_fix import PlainFix, search_fix

_FEWEST = 2


class SizesFix(NamedTuple):
    """A ``fix`` command that fixes the sizes of inputs, and its simulated result for one target."""

    run: Run
    """The run of this target without the fix."""
    fix: PlainFix
    command: str


class SharedRefusal(NamedTuple):
    """A reason why several delegates are not applied. Deprecated delegates come last."""

    code: str
    runs: tuple[Run, ...]
    fix: SizesFix | None

    @property
    def title(self) -> str:
        """The reason in a few words."""
        return self.runs[0].delegate.kinds[self.code].title


def shared_refusals(model: Model, runs: Sequence[Run]) -> Sequence[SharedRefusal]:
    """Return each refusal of the whole graph that several delegates share."""
    by_code: dict[str, list[Run]] = {}
    for run in runs:
        if run.outcome == REFUSED and run.is_prepared and run.is_loaded and run.refusal is not None:
            by_code.setdefault(run.refusal.code, []).append(run)
    return [_shared(model, code, stopped) for code, stopped in by_code.items() if len(stopped) >= _FEWEST]


def _shared(model: Model, code: str, stopped: Sequence[Run]) -> SharedRefusal:
    runs = sorted(stopped, key=lambda run: bool(run.delegate.deprecated))
    is_mended = code == DYNAMIC_TENSORS.name and has_open_input(model)
    return SharedRefusal(code, tuple(runs), _sizes_fix(model, runs[0]) if is_mended else None)


def _sizes_fix(model: Model, run: Run) -> SizesFix | None:
    fix = search_fix(model, [run.target], Effort(model))
    if fix.plan is None or not fix.arguments:
        return None
    return SizesFix(run, fix, fix_command(model, run.target, *fix.arguments))
