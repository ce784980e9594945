"""Delegates for Arm's compiler Vela: one for each configuration of an Ethos-U NPU (``vela --accelerator-config``).

Vela's checks depend on its scheduler and version. Therefore, Vela is not simulated but run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..foundation.parsing.invalid_value import InvalidValueError
from ..rules.book import RuleBook, Unknown
from ..rules.kinds import Explanation, kinds_in
from ..rules.rule import Repository, Source
from .base import Delegate
from .options import Option, integer, text
from .registry import VELA_NAMES
from .traits import VelaTraits

_KINDS = kinds_in("delegates", "vela", is_shared=True)
CONSTRAINT = _KINDS["vela-constraint"]
UNEXPLAINED = _KINDS["vela-unexplained"]
NOT_COMPILED = _KINDS["vela-not-compiled"]
KINDS = tuple(_KINDS.values())
EXPLAINED: Mapping[str, Explanation] = {kind.name: kind.explanation for kind in KINDS}
"""The explanations of all codes."""


_STRATEGIES = ("Performance", "Size")


def _strategy(value: Any) -> str:
    if value not in _STRATEGIES:
        raise InvalidValueError(f"takes {' or '.join(_STRATEGIES)}", value)
    return str(value)


def _size(value: Any) -> int:
    number = integer(value)
    if number < 0:
        raise InvalidValueError("takes a number of bytes", value)
    return number


OPTIONS = (
    Option("system_config", text, None, "a system configuration in vela.ini; by default, Vela's choice for the NPU"),
    Option("memory_mode", text, None, "a memory mode in vela.ini; by default, Vela's choice for the NPU"),
    Option(
        "optimise",
        _strategy,
        _STRATEGIES[0],
        "what Vela optimizes for: Performance, or Size for less memory",
        choices=_STRATEGIES,
    ),
    Option("arena_cache_size", _size, 0, "the memory in bytes that Vela may use for the arena cache; 0 is Vela's default"),
)
"""Vela's options that change the result. The names of the options are Vela's names."""


class VelaCompiler(Delegate):
    """Vela for one configuration of an Ethos-U NPU."""

    live: VelaTraits
    kernel_name = "ethos-u"
    provider_name = "NPU"
    is_live_only = True
    summary = "Arm's Ethos-U NPUs. Arm's compiler Vela compiles the model ahead of time. Vela can only be run (--live)."
    options = OPTIONS
    counts_cpu_partitions = False
    rules: RuleBook[Any] = RuleBook("vela", (), KINDS, Source(Repository("Arm/ethos-u-vela", ""), "", ""), Unknown(""))
    computes_integers = True
    has_default_sets = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.title = f"Vela for {name}"
        self.live = VelaTraits(name)

    @property
    def software(self) -> str:
        """The name and the installed version of Vela."""
        return self.live.software


DELEGATES = {name: VelaCompiler(name) for name in VELA_NAMES}
