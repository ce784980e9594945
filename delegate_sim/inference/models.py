"""Comparing any two models with the same interface."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import FixError
from ..model.model import Model, Tensor
from ..text import printable
from .difference import Difference, compare
from .inputs import from_file, made_up


def compare_models(first: Model, second: Model, data: Sequence[str] = (), samples: int = 2) -> Difference:
    """Run two models on the same inputs: made up ones, and those of .npz files.

    Raises FixError where their inputs or outputs differ in number, type or shape, or where one does not run.
    """
    fault = _interface_fault(first, second)
    if fault:
        raise FixError(printable(f"{second.path}: does not have the interface of {first.path}: {fault}"))
    graph = first.subgraphs[0]
    inputs = [from_file(each, first, graph) for each in data] + [made_up(first, graph, seed, {}) for seed in range(samples)]
    return compare(first, second, inputs, {})


def _interface_fault(first: Model, second: Model) -> str:
    one, other = first.subgraphs[0], second.subgraphs[0]
    for what, mine, theirs in (("input", one.inputs, other.inputs), ("output", one.outputs, other.outputs)):
        if len(mine) != len(theirs):
            return f"{len(theirs)} {what}s, not {len(mine)}"
        for number, (index, place) in enumerate(zip(mine, theirs, strict=True)):
            expected, found = one.tensors[index], other.tensors[place]
            if expected.type != found.type:
                return f"{what} {number} is {found.type}, not {expected.type}"
            if what == "input" and not _takes(found, expected):
                return f"{what} {number} has shape {list(found.shape)}, not {list(expected.shape)}"
    return ""


def _takes(found: Tensor, expected: Tensor) -> bool:
    """Whether an input takes what is made up for another; open sizes take everything."""
    sizes = found.shape_signature or found.shape
    return len(sizes) == expected.rank and all(size in (-1, wanted) for size, wanted in zip(sizes, expected.shape, strict=True))
