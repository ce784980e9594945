"""The settings of converters that are tried: a quantisation, and options that go with it."""

from __future__ import annotations

from dataclasses import dataclass

from .converters import Route


@dataclass(frozen=True)
class Settings:
    """How a model is converted. ``quantization`` is one of ``QUANTIZATIONS``, ``options`` are of ``OPTIONS`` in their order.

    ``shapes`` are the sizes of inputs by name, for the option ``fixed``; an unknown size that is not given becomes 1.
    """

    quantization: str = "float"
    options: tuple[str, ...] = ()
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def name(self) -> str:
        """As ``parse_settings`` reads it: ``int8+dense-per-tensor+fixed``; shapes follow as ``+input=1x224x224x3``."""
        return "+".join(
            [self.quantization, *self.options, *[f"{name}={'x'.join(map(str, sizes))}" for name, sizes in self.shapes]]
        )

    def with_option(self, *names: str) -> Settings:
        """Return the same with further options. Raises OptionError for one that does not exist or does not go with the rest."""
        raise NotImplementedError

    def with_quantization(self, name: str) -> Settings:
        """Return the same with another quantisation, without the options that do not go with it."""
        raise NotImplementedError


FLOAT = Settings()


def parse_settings(text: str) -> Settings:
    """Read the name of settings. Raises OptionError."""
    raise NotImplementedError


def settings_for(route: Route) -> tuple[Settings, ...]:
    """Return the settings to try with a route, simple ones first, each single option once with what it goes with.

    The options ``fixed`` and ``unfolded``, which go with every quantisation, are there with float only; use ``with_option``.
    """
    raise NotImplementedError


def knows(route: Route, settings: Settings) -> bool:
    """Whether a route knows all of some settings."""
    raise NotImplementedError


def options_in(text: str) -> tuple[str, ...]:
    """Return the options whose setting a text of advice names, such as ``converter.unfold_batchmatmul = True``."""
    raise NotImplementedError


def describe(settings: Settings) -> str:
    """Say in words what settings do."""
    raise NotImplementedError
