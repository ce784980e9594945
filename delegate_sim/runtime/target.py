"""The target of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..delegates.base import Delegate
from ..delegates.options import OptionValues
from ..releases.catalogue import NEWEST, Release


@dataclass(frozen=True, slots=True)
class Target:
    """A delegate with its options, a release of the runtime, and assumptions about the application.

    ``defaults`` is ``benchmark`` or ``api``. A target with ``benchmark`` has the defaults and the log lines of
    benchmark_model.
    """

    delegate: Delegate
    options: OptionValues
    release: Release = NEWEST
    defaults: str = "api"
    assume_ops_registered: bool = False
    """Whether the application is assumed to register all operators that are missing in the release."""


class LabeledTarget(NamedTuple):
    """A target and its label."""

    label: str
    target: Target


def with_labels(targets: Sequence[Target]) -> tuple[LabeledTarget, ...]:
    """Return the targets with labels. A label is the delegate's name, with a number if several targets share the delegate."""
    names = [target.delegate.name for target in targets]
    return tuple(
        [
            LabeledTarget(name if names.count(name) == 1 else f"{name}#{names[: number + 1].count(name)}", target)
            for number, (name, target) in enumerate(zip(names, targets, strict=True))
        ]
    )
