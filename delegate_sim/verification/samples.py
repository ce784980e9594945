"""The inputs on which the signatures of a model are run."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import FixError, OptionError
from ..foundation.late_numpy import np
from ..foundation.printable import printable
from ..inference.inputs import InputArray, from_file, generated_samples
from ..model.model import Model
from .execution import EntryPoint


def entry_inputs(model: Model, chosen: Sequence[EntryPoint], data: Sequence[str], samples: int) -> list[list[list[InputArray]]]:
    """Return the samples of each entry: a list of arrays for each sample, in the order of the entry's inputs.

    A .npz file in ``data`` belongs to all entries that it fits. In every second generated sample, no float is positive. Raise
    OptionError if a file fits no entry or inputs cannot be generated, and FixError if a signature does not name its inputs.
    """
    unused = dict.fromkeys(data, "")
    samples_of_entries: list[list[list[InputArray]]] = []
    for entry in chosen:
        graph = model.subgraphs[entry.subgraph]
        if set(entry.input_tensors) != set(graph.inputs):
            raise FixError(printable(f"signature {entry.key!r} cannot be run, because it does not name all its inputs"))
        if not graph.outputs or not set(entry.output_tensors) <= set(graph.outputs):
            raise FixError(printable(f"signature {entry.key!r} cannot be run, because it names a tensor that is no output"))
        own = []
        for path in data:
            try:
                own.append(from_file(path, model, graph))
                unused.pop(path, None)
            except OptionError as error:
                if path in unused:
                    unused[path] = str(error)
        for seed, arrays in enumerate(generated_samples(model, graph, samples)):
            own.append([_not_positive(array) for array in arrays] if seed % 2 else arrays)
        order = [graph.inputs.index(index) for index in entry.input_tensors]
        samples_of_entries.append([[arrays[place] for place in order] for arrays in own])
    if unused:
        raise OptionError(next(iter(unused.values())))
    return samples_of_entries


def _not_positive(array: InputArray) -> InputArray:
    negative: InputArray = -np.abs(array) if array.dtype.kind == "f" else array
    return negative
