"""What to change about each refused node: what a diagnosis says of its causes, without what each of them costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.model import Model
from ..runtime.suppositions import NodeKey
from ..runtime.target import Target
from .examiner import Examiner
from .finder import find_causes


def advice(model: Model, target: Target) -> Mapping[tuple[NodeKey, str], Sequence[str]]:
    """Return the changes that would end each refusal, by node of the file and code, as ``diagnose`` words them."""
    found: dict[tuple[NodeKey, str], list[str]] = {}
    for cause in find_causes(model, Examiner(model, target).simulate).causes:
        for node in cause.nodes:
            for code in cause.codes:
                changes = found.setdefault((node, code), [])
                if cause.change not in changes:
                    changes.append(cause.change)
    return found
