"""Shorten lists of releases. Consecutive releases become spans."""

from __future__ import annotations

from collections.abc import Sequence

from delegate_sim.releases.catalogue import RELEASES


def spans(releases: Sequence[str]) -> list[str]:
    """Return names of releases, with spans such as ``tf-2.13 to tf-2.18`` for consecutive releases."""
    spans: list[list[str]] = []
    for release in releases:
        position = RELEASES.index(release) if release in RELEASES else -1
        follows = spans and position > 0 and RELEASES[position - 1] == spans[-1][-1]
        if follows and spans[-1][-1].partition("-")[0] == release.partition("-")[0]:
            spans[-1].append(release)
        else:
            spans.append([release])
    return [span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans]
