"""Compare two models whose inputs and outputs match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import FixError
from ..foundation.printable import printable
from ..model.model import Model, Subgraph, Tensor
from .difference import Difference, Facing, compare
from .inputs import InputArray, from_file, generated_samples

_REAL = frozenset({"FLOAT32", "FLOAT16"})
_WHOLE = frozenset({"INT32", "INT64"})


def compare_models(
    first: Model,
    second: Model,
    data: Sequence[str] = (),
    samples: int = 2,
    *,
    arrays: Sequence[Sequence[InputArray]] = (),
    is_timed: bool = True,
    python: str = "",
) -> Difference:
    """Run two models on the same inputs, and compare the outputs.

    The inputs are ``arrays``, the arrays in the .npz files ``data``, and ``samples`` generated inputs. If only one model
    quantizes a value, the values are compared as real numbers. If ``is_timed`` is false, each model runs once per input. The
    latency and the differences from run to run are then not measured. ``python`` is as in ``compare``. Raise FixError if the
    models' inputs or outputs differ from each other in number, shape or meaning, or if a model does not run.
    """
    graph = first.subgraphs[0]
    facing = _facing(first, second)
    inputs = [*arrays] + [from_file(path, first, graph) for path in data] + generated_samples(first, graph, samples)
    return compare(first, second, inputs, {}, facing=facing, looks_for_unsteady=is_timed, is_timed=is_timed, python=python)


def _facing(first: Model, second: Model) -> Facing | None:
    """Return the correspondence of the models' inputs and outputs. Return None if order and types are the same in both models.

    Raise FixError if the inputs or outputs of the two models cannot be matched.
    """
    order: dict[str, list[int]] = {}
    in_real_numbers: dict[str, list[bool]] = {}
    for side, mine, theirs in zip(("input", "output"), _ends(first), _ends(second), strict=True):
        if len(mine) != len(theirs):
            raise FixError(_refused(first, second, f"{len(theirs)} {side}s, not {len(mine)}"))
        order[f"{side}s"] = own = _order(mine, theirs)
        in_real_numbers[f"{side}s"] = []
        for number, (end, place) in enumerate(zip(mine, own, strict=True)):
            tensor = theirs[place].tensor
            fault = _fault(end.tensor, tensor, is_input=side == "input")
            if fault:
                raise FixError(_refused(first, second, f"{side} {number} {fault}"))
            in_real_numbers[f"{side}s"].append(end.tensor.type != tensor.type)
    is_same = all(places == sorted(places) for places in order.values())
    return None if is_same and not any(map(any, in_real_numbers.values())) else Facing(order, in_real_numbers)


@dataclass(frozen=True, slots=True)
class _End:
    tensor: Tensor
    name: str


def _ends(model: Model) -> tuple[list[_End], list[_End]]:
    graph = model.subgraphs[0]
    signature = next((signature for signature in model.signatures if signature.subgraph == graph.index), None)
    names = ({}, {}) if signature is None else (signature.inputs, signature.outputs)
    return _ends_of(graph, graph.inputs, names[0]), _ends_of(graph, graph.outputs, names[1])


def _ends_of(graph: Subgraph, indices: Sequence[int], named: Mapping[str, int]) -> list[_End]:
    names = {index: name for name, index in named.items()}
    return [_End(graph.tensors[index], names.get(index, "")) for index in indices]


def _order(mine: Sequence[_End], theirs: Sequence[_End]) -> list[int]:
    """Return the position in ``theirs`` of each item of ``mine``.

    If both models have the same signature names, items are matched by name. Otherwise, items are matched by position.
    """
    names = [end.name for end in theirs]
    if all(end.name for end in mine) and sorted(end.name for end in mine) == sorted(names) and len(set(names)) == len(names):
        return [names.index(end.name) for end in mine]
    return list(range(len(mine)))


def _fault(expected: Tensor, tensor: Tensor, *, is_input: bool) -> str:
    if (
        expected.type != tensor.type
        and not (_is_real(expected) and _is_real(tensor))
        and not {expected.type, tensor.type} <= _WHOLE
    ):
        return f"is {tensor.type}, not {expected.type}"
    if is_input and not _takes(tensor, expected):
        return f"has shape {list(tensor.shape)}, not {list(expected.shape)}"
    return ""


def _is_real(tensor: Tensor) -> bool:
    return tensor.type in _REAL or tensor.scale > 0


def _refused(first: Model, second: Model, fault: str) -> str:
    return printable(f"{second.path}: its inputs and outputs do not match {first.path}: {fault}")


def _takes(tensor: Tensor, expected: Tensor) -> bool:
    """Return whether the input ``tensor`` accepts a value with the shape of ``expected``. An unknown size accepts every size."""
    sizes = tensor.shape_signature or tensor.shape
    return len(sizes) == expected.rank and all(
        size in (-1, expected_size) for size, expected_size in zip(sizes, expected.shape, strict=True)
    )
