"""Caveats about runtime releases whose own rules are unknown."""

from __future__ import annotations

from collections.abc import Iterator

from .catalogue import Release, parse_release, release_note


def release_notes(delegate: str, release: Release, known_since: str, *, is_unchanged: bool) -> Iterator[str]:
    """Say which release's rules are used where a delegate's own are not well known.

    ``known_since`` is the oldest release whose rules are known, empty if the delegate does not come with the runtime; the rules
    of a delegate that ``is_unchanged`` are the same in all later releases.
    """
    note = release_note(release)
    if note is not None:
        yield note
    if not known_since:
        return
    since = parse_release(known_since)
    if not release.is_at_least(since):
        yield f"the rules of {delegate} in {release} are not well known: those of {since}, the oldest known, are used"
    elif release.family == "tf" and release.order[0] and not is_unchanged:
        counterpart = f"litert-{'.'.join(map(str, release.order))}"
        yield f"the rules of {delegate} in {release} are not known: those of {counterpart}, from the same time, are used"


def predicted_build(release: Release) -> str:
    """Say that it is read from the newest sources whether a release can make a delegate's kernels."""
    return f"whether {release} can create the delegate's kernels is predicted from the newest sources"
