"""What is to be said of a release of the runtime whose rules are not known as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .runtime import Release, parse_release, release_note

_KNOWN_SINCE: Mapping[str, str] = {
    "nnapi": "tf-2.14",
    "hexagon": "tf-2.14",
    "gpu": "tf-2.14",
    "coreml": "litert-1.1.0",
    "xnnpack": "litert-1.0.1",
}
"""The oldest release whose rules of a delegate are known. Those of the other delegates do not come with the runtime."""

_UNCHANGED = frozenset({"nnapi"})
"""Delegates whose rules are the same in all later releases, so that it does not matter which one a release stands for."""


def notes(delegate: str, release: Release) -> Iterator[str]:
    """Say which release's rules are taken where a delegate's own are not known well."""
    note = release_note(release)
    if note is not None:
        yield note
    known = _KNOWN_SINCE.get(delegate)
    if known is None:
        return
    since = parse_release(known)
    if not release.is_at_least(since):
        yield f"the rules of {delegate} in {release} are not known well: those of {since}, the oldest known, are taken"
    elif release.family == "tf" and release.order[0] and delegate not in _UNCHANGED:
        counterpart = f"litert-{'.'.join(map(str, release.order))}"
        yield f"the rules of {delegate} in {release} are not known as such: those of {counterpart}, of the same time, are taken"


def unknown_build(release: Release) -> str:
    """Say that a kernel, which cannot be made in the newest release, may be made or not in this one."""
    return f"whether {release} does so is not known"
