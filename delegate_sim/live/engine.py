"""The interface of an engine: a delegate's real code on this host."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..delegates.base import Delegate
from ..delegates.options import OptionValues
from ..model.model import Model
from ..runtime.interpreter import Run
from .decision import LiveDecision


class Engine(ABC):
    """Interface to a delegate's real code on this host.

    Only ``decide`` imports or runs the code. ``lacks`` names the requirements to install, and is empty if the engine can run.
    """

    def __init__(self, delegate: Delegate, lacks: str = "") -> None:
        self.delegate = delegate
        self.lacks = lacks

    @property
    def is_ready(self) -> bool:
        """True if no missing requirement is known."""
        return not self.lacks

    @property
    def installation(self) -> str:
        """The name of the installed program. If one engine with this name runs on this host, all engines with this name run."""
        return self.delegate.name

    @property
    def fixed_options(self) -> OptionValues:
        """Values that some options must have on this host."""
        return {}

    @property
    @abstractmethod
    def software(self) -> str:
        """The name and version of the real code, such as ``litert-2.3.0``."""

    @abstractmethod
    def decide(self, model: Model, options: OptionValues) -> LiveDecision:
        """Run the code on a model in a separate process. Raise OptionError for options that the code does not accept."""

    @abstractmethod
    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return the decision of a simulated run in the engine's format."""


class NoEngine(Engine):
    """Engine of a delegate that cannot run on any host."""

    @property
    def software(self) -> str:
        """Empty, because there is no code."""
        return ""

    def decide(self, model: Model, options: OptionValues) -> LiveDecision:
        """Raise NotImplementedError. This method is never called."""
        raise NotImplementedError

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Raise NotImplementedError. This method is never called."""
        raise NotImplementedError
