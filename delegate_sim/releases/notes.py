"""Notes about runtime releases without known rules."""

from __future__ import annotations

from collections.abc import Iterator

from .catalogue import Release, ReleaseNote, parse_release, release_note

_CPU_KERNELS_SINCE = parse_release("litert-1.1.0")
"""The oldest release whose CPU kernels are simulated."""


def unchecked_parts(release: Release, delegate: str, known_since: str) -> Iterator[str]:
    """Yield the parts of a release that were not checked: the delegate's rules, and the CPU kernels."""
    if known_since and not release.is_at_least(parse_release(known_since)):
        yield f"the rules of {delegate}"
    if not release.is_at_least(_CPU_KERNELS_SINCE):
        yield "the CPU kernels"


def release_notes(delegate: str, release: Release, known_since: str, *, is_unchanged: bool) -> Iterator[ReleaseNote]:
    """Yield notes about a release if the delegate's rules in this release are not known.

    The notes name the release whose rules are used instead. ``known_since`` is the oldest release with known rules, or "" if
    the delegate is not part of the runtime. ``is_unchanged`` means that the delegate's rules are the same in all releases
    since ``known_since``.
    """
    for note in (release_note(release), cpu_kernels_note(release)):
        if note is not None:
            yield note
    if not known_since:
        return
    since = parse_release(known_since)
    if not release.is_at_least(since):
        instead = f"the rules of {since}, the oldest known release, are used instead"
        yield ReleaseNote(f"the rules of {delegate} in {{release}} are not well known; {instead}", release)
    elif release.family == "tf" and release.order[0] and not is_unchanged:
        counterpart = Release("litert", release.order[:3])
        instead = f"the rules of {counterpart}, a release from the same time, are used instead"
        yield ReleaseNote(f"the rules of {delegate} in {{release}} are not known; {instead}", release)


def cpu_kernels_note(release: Release) -> ReleaseNote | None:
    """Return a note if the CPU kernels of a release are not simulated."""
    if release.is_at_least(_CPU_KERNELS_SINCE):
        return None
    instead = f"the checks of {_CPU_KERNELS_SINCE} are used instead"
    return ReleaseNote(f"the CPU kernels of {{release}} are not simulated; {instead}", release)


def predicted_build(release: Release) -> ReleaseNote:
    """Return a note that a prediction about a release is made from newer source code."""
    return ReleaseNote("it is predicted from the newest source code whether {release} can create the delegate's kernels", release)
