"""The target of a simulation."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..delegates.base import Delegate
from ..delegates.options import OptionValues, option_value
from ..errors import OptionError
from ..foundation.outputs import is_device
from ..foundation.printable import printable
from ..releases.catalogue import NEWEST, Release

_NOT_IN_FILE_NAMES = re.compile(r"[^\w.-]+")


class Target(NamedTuple):
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

    @property
    def effort(self) -> int:
        """The relative cost of one simulation."""
        return self.delegate.effort_with(self.options)


def ignore_identifier(targets: Sequence[Target]) -> bool:
    """Return whether a file's identifier does not matter, because all targets are runtimes that do not read it."""
    return bool(targets) and all(target.delegate.runs_whole_models for target in targets)


def releases_of(delegates: Sequence[Delegate], name: str) -> list[Release]:
    """Return the release of each delegate that a name means. A delegate whose runtime has no such release has its default.

    Raises OptionError if no runtime has such a release.
    """
    releases: list[Release] = []
    errors: list[tuple[Delegate, OptionError]] = []
    for delegate in delegates:
        try:
            releases.append(delegate.release_of(name))
        except OptionError as error:
            errors.append((delegate, error))
            releases.append(delegate.default_release)
    if errors and len(errors) == len(delegates):
        raise next((error for delegate, error in errors if not delegate.runs_whole_models), errors[0][1])
    return releases


class LabeledTarget(NamedTuple):
    """A target and its label."""

    label: str
    target: Target


def target_names(targets: Sequence[Target]) -> list[str]:
    """Return names such as ``gpu``, ``nnapi 11`` and ``nnapi 13``, safe to print.

    A name is the delegate's name. If several targets share the delegate, ``target_details`` follow.
    """
    details = target_details(targets)
    return [f"{target.delegate.name} {detail}".rstrip() for target, detail in zip(targets, details, strict=True)]


def target_details(targets: Sequence[Target]) -> list[str]:
    """Return the options and releases in which targets of one delegate differ, safe to print. Empty if they differ in nothing."""
    groups: dict[str, list[Target]] = {}
    for target in targets:
        groups.setdefault(target.delegate.name, []).append(target)
    differing = {name: _differing(group) for name, group in groups.items()}
    details = []
    for target in targets:
        options, releases_differ = differing[target.delegate.name]
        values = [option_value(target.options[key]) for key in options if target.options[key] is not None]
        releases = [str(target.release)] if releases_differ else []
        details.append(printable(" ".join([*values, *releases])))
    return details


def _differing(targets: Sequence[Target]) -> tuple[list[str], bool]:
    first = targets[0]
    options = [key for key, value in first.options.items() if any(other.options[key] != value for other in targets)]
    return options, any(other.release != first.release for other in targets)


def with_labels(targets: Sequence[Target]) -> tuple[LabeledTarget, ...]:
    """Return the targets with labels. A label is the target's name, with a number if several targets share the name."""
    names = target_names(targets)
    counts, seen = Counter(names), Counter[str]()
    labeled = []
    for name, target in zip(names, targets, strict=True):
        seen[name] += 1
        labeled.append(LabeledTarget(name if counts[name] == 1 else f"{name}#{seen[name]}", target))
    return tuple(labeled)


def per_target_path(path: str, label: str) -> str:
    """Return the path of the model for one target, such as ``fixed.gpu.tflite`` or ``fixed.nnapi-11.tflite``."""
    if is_device(path):
        return path
    stem, ending = os.path.splitext(path)
    return f"{stem}.{_NOT_IN_FILE_NAMES.sub('-', label)}{ending}"
