"""Which targets are compared by the share of a model that they run, and the words around such a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ...delegates.base import Delegate
from ...foundation.printable import and_list, counted

_Item = TypeVar("_Item")


def ranked_groups(items: Sequence[_Item], delegate_of: Callable[[_Item], Delegate]) -> list[list[_Item]]:
    """Return the items in groups: accelerators, then the CPU library, then compiler plugins. Empty groups are left out."""
    groups: list[list[_Item]] = [[], [], []]
    for item in items:
        delegate = delegate_of(item)
        groups[2 if delegate.is_plugin else 1 if delegate.is_applied_by_default else 0].append(item)
    return [group for group in groups if group]


def ranking_text(targets: int, leaders: int, whole: str = "") -> str:
    """Return the beginning of a sentence about the targets with the largest share, or "" if there is nothing to compare.

    ``whole`` names what these targets run if they run everything, such as "all nodes (7)".
    """
    if targets == 1:
        return ""
    if whole:
        return f"{leaders:,} of {counted(targets, 'target')} {'runs' if leaders == 1 else 'run'} {whole}: "
    return f"Largest share of {counted(targets, 'target')}: "


def aside_text(unranked: Sequence[Delegate]) -> str:
    """Return a sentence about the comparison. ``unranked`` has a delegate of each group that is not ranked."""
    reasons = [
        "NPU plugins (they only select nodes)" if delegate.is_plugin else f"{delegate.provider_name} (the CPU)"
        for delegate in unranked
    ]
    return f". A share is not speed{f'; not ranked: {and_list(reasons)}' if reasons else ''}"
