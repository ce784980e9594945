"""Runtimes that are targets of their own, in place of a delegate that the interpreter applies."""

from __future__ import annotations

from ..delegates.base import Delegate
from ..model.model import Model
from .run import Assumptions, Run
from .target import Target


class OwnRuntime(Delegate):
    """A runtime that runs a whole model or none of it. It loads and prepares models itself, without the interpreter."""

    def evaluate(self, model: Model, target: Target, assumptions: Assumptions) -> Run:
        """Return what the runtime does with each node of a model."""
        raise NotImplementedError
