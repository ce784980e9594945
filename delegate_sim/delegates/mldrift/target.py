"""The target of the rules: only a release, because no backend or option changes a verdict.

Source: ``GetOpsToReplaceWithOptions`` (``ml_drift_delegate/tflite/model_builder.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release, ReleaseNote, parse_release, release_note
from ...rules.rule import Check


class MlDriftTarget(NamedTuple):
    """The measured release that is simulated."""

    release: Release = NEWEST


OLDEST, _SECOND, THIRD, NEWEST_MEASURED, _DEVELOPMENT = (
    parse_release(f"litert-{version}") for version in ("2.1.3", "2.1.5", "2.2.0", "2.3.0", "2.4")
)
MEASURED = (OLDEST, _SECOND, THIRD, NEWEST_MEASURED, _DEVELOPMENT)
"""The measured releases, oldest first."""

BUILDS_CHECKED = _SECOND
"""The oldest release for which it was checked whether ML Drift can create its kernels."""


def rules_of(release: Release) -> Release:
    """Return the newest measured release up to ``release``.

    If ``release`` is older than all measured releases, return the oldest measured release.
    """
    return next((measured for measured in reversed(MEASURED) if release.is_at_least(measured)), OLDEST)


def release_notes(release: Release) -> Iterator[ReleaseNote]:
    """Yield a note if ``release`` was not measured. The note names the release that is simulated instead."""
    note = release_note(release)
    if note is not None:
        yield note
    if not release.is_at_least(BUILDS_CHECKED):
        yield ReleaseNote(f"it was not checked before {BUILDS_CHECKED} whether {{release}} can create kernels", release)
    simulated = rules_of(release)
    if simulated.order == release.order:
        return
    if not release.is_at_least(OLDEST):
        instead = f"the rules of {OLDEST}, the oldest measured release, are used instead"
        yield ReleaseNote(f"the rules of mldrift in {{release}} are not known; {instead}", release)
    else:
        instead = f"the rules of {simulated}, the last measured release before {release}, are used instead"
        yield ReleaseNote(f"the rules of mldrift in {{release}} were not measured; {instead}", release)


def as_measured(*checks: Check[object]) -> tuple[Check[object], ...]:
    """Return copies of the checks whose release ranges start and end at measured releases.

    Checks that ML Drift shares with the older GPU delegate have release ranges from the runtime's sources. If a check changed
    between two measured releases, the change is assumed to be in the later release. Checks that apply to no measured release are
    omitted.
    """
    return tuple([_as_measured(check) for check in checks if check.withdrawn is None or not OLDEST.is_at_least(check.withdrawn)])


@functools.cache
def _as_measured(check: Check[object]) -> Check[object]:
    if check.introduced is None and check.withdrawn is None:
        return check
    return replace(check, introduced=_dated(check.introduced), withdrawn=_dated(check.withdrawn))


def _dated(release: Release | None) -> Release | None:
    """Return the first measured release from ``release`` on.

    Return None (no limit) if ``release`` is None or not newer than the oldest measured release.
    """
    if release is None or OLDEST.is_at_least(release):
        return None
    return next(measured for measured in MEASURED if measured.is_at_least(release))
