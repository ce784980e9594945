"""The interface of an engine: a delegate's real code on this host."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..delegates.base import Delegate, OptionValues
from ..model.model import Model
from ..runtime.interpreter import Run
from .decision import LiveDecision


class Engine(ABC):
    """A delegate's real code on this host; nothing is imported or run before ``decide``.

    ``lacks`` is what to install where it cannot be run; empty if it can be.
    """

    def __init__(self, delegate: Delegate, lacks: str = "") -> None:
        self.delegate = delegate
        self.lacks = lacks

    @property
    def is_ready(self) -> bool:
        """True if it can be run, as far as that is known."""
        return not self.lacks

    @property
    def fixed_options(self) -> OptionValues:
        """The values of options without which it cannot be run on this host."""
        return {}

    @property
    @abstractmethod
    def software(self) -> str:
        """What is run, with its version, such as ``litert-2.3.0``."""

    @abstractmethod
    def decide(self, model: Model, options: OptionValues) -> LiveDecision:
        """Run the code on a model, in a process of its own. Raises OptionError for options that it cannot be given."""

    @abstractmethod
    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return a simulated run in the form of what ``decide`` returns."""


class NoEngine(Engine):
    """Stands for a delegate that cannot be run on any host."""

    @property
    def software(self) -> str:
        """Nothing."""
        return ""

    def decide(self, model: Model, options: OptionValues) -> LiveDecision:
        """Nobody asks."""
        raise NotImplementedError

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Nobody asks."""
        raise NotImplementedError
