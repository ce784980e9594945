"""Compare any two models with the same interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FixError
from ..foundation.printable import printable
from ..model.model import Model, Tensor
from .difference import Difference, Facing, compare
from .inputs import from_file, made_up

_REAL = frozenset({"FLOAT32", "FLOAT16"})
_WHOLE = frozenset({"INT32", "INT64"})


def compare_models(
    first: Model,
    second: Model,
    data: Sequence[str] = (),
    samples: int = 2,
    *,
    is_timed: bool = True,
) -> Difference:
    """Run two models on the same inputs: made up ones, and those of .npz files.

    What one of them stores as integers with a scale and the other in another type compares as the real numbers that it stands
    for. Without ``is_timed`` each model runs once on each input, and latency and what differs from run to run are not looked
    at. Raises FixError where their inputs or outputs differ in number, shape, or a type that stands for something else, or
    where one does not run.
    """
    graph = first.subgraphs[0]
    facing = _facing(first, second)
    inputs = [from_file(each, first, graph) for each in data] + [made_up(first, graph, seed, {}) for seed in range(samples)]
    return compare(first, second, inputs, {}, 2 if is_timed else 0, facing=facing, looks_for_unsteady=is_timed)


def _facing(first: Model, second: Model) -> Facing | None:
    """Return how the second model's inputs and outputs stand for the first's, None if they are the same. Raises FixError."""
    order: dict[str, list[int]] = {}
    in_real_numbers: dict[str, list[bool]] = {}
    for what, mine, theirs in zip(("input", "output"), _ends(first), _ends(second), strict=True):
        if len(mine) != len(theirs):
            raise FixError(_refused(first, second, f"{len(theirs)} {what}s, not {len(mine)}"))
        order[f"{what}s"] = own = _order(mine, theirs)
        in_real_numbers[f"{what}s"] = []
        for number, (end, place) in enumerate(zip(mine, own, strict=True)):
            found = theirs[place].tensor
            fault = _fault(end.tensor, found, is_input=what == "input")
            if fault:
                raise FixError(_refused(first, second, f"{what} {number} {fault}"))
            in_real_numbers[f"{what}s"].append(end.tensor.type != found.type)
    is_same = all(places == sorted(places) for places in order.values())
    return None if is_same and not any(map(any, in_real_numbers.values())) else Facing(order, in_real_numbers)


@dataclass(frozen=True, slots=True)
class _End:
    """An input or output: its tensor, and what a signature calls it, empty if none does."""

    tensor: Tensor
    name: str


def _ends(model: Model) -> tuple[list[_End], list[_End]]:
    graph = model.subgraphs[0]
    signature = next((each for each in model.signatures if each.subgraph == graph.index), None)
    names = ({}, {}) if signature is None else (signature.inputs, signature.outputs)
    inputs, outputs = (
        [_End(graph.tensors[index], {place: name for name, place in own.items()}.get(index, "")) for index in indices]
        for indices, own in zip((graph.inputs, graph.outputs), names, strict=True)
    )
    return inputs, outputs


def _order(mine: Sequence[_End], theirs: Sequence[_End]) -> list[int]:
    """Return where the second model has each end of the first: by the names of their signatures, or else by position."""
    names = [end.name for end in theirs]
    if all(end.name for end in mine) and sorted(end.name for end in mine) == sorted(names) and len(set(names)) == len(names):
        return [names.index(end.name) for end in mine]
    return list(range(len(mine)))


def _fault(expected: Tensor, found: Tensor, *, is_input: bool) -> str:
    if expected.type != found.type and not (_is_real(expected) and _is_real(found)) and not {expected.type, found.type} <= _WHOLE:
        return f"is {found.type}, not {expected.type}"
    if is_input and not _takes(found, expected):
        return f"has shape {list(found.shape)}, not {list(expected.shape)}"
    return ""


def _is_real(tensor: Tensor) -> bool:
    """Return whether the values stand for real numbers."""
    return tensor.type in _REAL or tensor.scale > 0


def _refused(first: Model, second: Model, fault: str) -> str:
    return printable(f"{second.path}: does not have the interface of {first.path}: {fault}")


def _takes(found: Tensor, expected: Tensor) -> bool:
    """Return whether an input takes what is made up for another; open sizes take everything."""
    sizes = found.shape_signature or found.shape
    return len(sizes) == expected.rank and all(size in (-1, wanted) for size, wanted in zip(sizes, expected.shape, strict=True))
