"""The inputs on which the signatures of a model are run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import FixError, OptionError
from ..foundation.late_numpy import np
from ..foundation.printable import printable
from ..inference.inputs import InputArray, from_file, generated_samples, named_inputs
from ..model.model import Model
from .execution import EntryPoint


def entry_inputs(
    model: Model, chosen: Sequence[EntryPoint], data: Sequence[str], samples: int
) -> Iterator[list[list[InputArray]]]:
    """Yield the samples of each entry: a list of arrays for each sample, in the order of the entry's inputs.

    A .npz file in ``data`` belongs to all entries that it fits. In every second generated sample, no float is positive. The
    samples of an entry are made when the entry is reached, because they may be large. Raise OptionError if a file fits no entry
    or inputs cannot be generated, and FixError if a signature does not name its inputs.
    """
    unused = dict.fromkeys(data, "")
    for entry in chosen:
        graph = model.subgraphs[entry.subgraph]
        if set(entry.input_tensors) != set(graph.inputs):
            raise FixError(printable(f"signature {entry.key!r} cannot be run, because it does not name all its inputs"))
        if not graph.outputs or not set(entry.output_tensors) <= set(graph.outputs):
            raise FixError(printable(f"signature {entry.key!r} cannot be run, because it names a tensor that is no output"))
        for path in list(unused):
            try:
                named_inputs(path, model, graph)
                del unused[path]
            except OptionError as error:
                unused[path] = str(error)
    if unused:
        raise OptionError(next(iter(unused.values())))
    return (_samples_of(model, entry, data, samples) for entry in chosen)


def _samples_of(model: Model, entry: EntryPoint, data: Sequence[str], samples: int) -> list[list[InputArray]]:
    graph = model.subgraphs[entry.subgraph]
    own = []
    for path in data:
        try:
            own.append(from_file(path, model, graph))
        except OptionError:  # the file belongs to other entries
            continue
    for seed, arrays in enumerate(generated_samples(model, graph, samples)):
        own.append([_not_positive(array) for array in arrays] if seed % 2 else arrays)
    places = {index: place for place, index in reversed([*enumerate(graph.inputs)])}
    return [[arrays[places[index]] for index in entry.input_tensors] for arrays in own]


def _not_positive(array: InputArray) -> InputArray:
    negative: InputArray = -np.abs(array) if array.dtype.kind == "f" else array
    return negative
