"""Convert a source model in many ways: ``delegate_sim.sweep``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ..conversion.cache import ConversionCache, default_folder
from ..conversion.calibration import find_calibration
from ..conversion.converters import Limits, find_converters, routes
from ..conversion.settings import parse_settings
from ..conversion.sources import find_source
from ..errors import OptionError
from ..foundation.outputs import OutputFile, check_output, files_kept
from ..runtime.target import with_labels
from ..sweeping.search import parse_shapes
from ..sweeping.sweep import sweep as sweep_targets
from ..sweeping.sweep_result import SweepRequest, Swept, write_best
from .arguments import targets_of
from .calls import DelegatesLike, PathsLike, names_of, paths_of, public, require_bool


@public
def sweep(
    source: str | os.PathLike[str],
    delegates: DelegatesLike,
    *,
    all: bool = False,
    settings: str | Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    data: str | os.PathLike[str] | None = None,
    run_model_code: bool = False,
    max_difference: float = 0.1,
    best_for: str | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    pythons: PathsLike = (),
    time_limit: float | None = None,
    memory_limit: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
) -> Swept:
    """Convert a source model in many ways, and simulate every delegate on each converted model.

    ``source`` is a SavedModel folder, a Keras, ONNX or torch.export file, or ``module:function``. The converters are taken
    from the current Python interpreter, or from the interpreters in ``pythons``. ``delegates`` is a name, or a list of names
    or pairs of a name and options. The search starts with float and with ``settings`` (such as ``int8+dense-per-tensor``). It
    continues with the settings that a diagnosis suggests. With ``all``, it tries all settings that the converters support.
    ``shapes`` sets fixed shapes of inputs. ``data`` is a .npz file, a folder of images or a function, by default random
    numbers. Quantizers calibrate with this data, and the outputs of the converted models are compared on it. Converting runs
    the code of a source or data function. ``run_model_code`` also allows converters to run code that is in a file, such as a
    Lambda layer. A converted model cannot be the best if its outputs differ from the float model's by more than
    ``max_difference``, or if it was calibrated with random numbers. The best model for the target ``best_for`` is written to
    ``output``. ``force`` allows the function to replace an existing file. ``time_limit`` (seconds) and ``memory_limit``
    (bytes) apply to each step of a conversion. Conversions are cached in the folder ``cache``, by default in the user's cache
    folder. A failed conversion has a row with the reason. After KeyboardInterrupt, the result has the finished rows, and
    ``is_interrupted`` is true. Raises the errors of ``analyze``, ModelError if the source does not exist, has an unknown
    format, or has code that ``run_model_code`` does not allow, and FixError if the best model cannot be written.
    """
    require_bool("all", all)
    require_bool("force", force)
    require_bool("run_model_code", run_model_code)
    targets = targets_of(delegates, runtime, defaults, assume_ops_registered)
    if (best_for is None) != (output is None):
        raise OptionError(
            "give best_for and output together: the best model for the target best_for is written to the file output"
        )
    labels = [target.label for target in with_labels(targets)]
    if best_for is not None and best_for not in labels:
        raise OptionError(f"there is no target {best_for!r}; the targets are {', '.join(labels)}")
    with files_kept():
        source_model = find_source(paths_of(source, "source")[0], run_model_code=run_model_code)
        if output is not None:
            check_output(OutputFile(os.fsdecode(output), is_forced=force))
    limits = Limits()
    asked = SweepRequest(
        tuple(map(parse_settings, names_of(settings, "settings"))),
        all,
        find_calibration(None if data is None else paths_of(data, "data")[0]),
        Limits(limits.seconds if time_limit is None else time_limit, limits.memory if memory_limit is None else memory_limit),
        parse_shapes([f"{name}={','.join(map(str, sizes))}" for name, sizes in (shapes or {}).items()]),
        max_difference,
    )
    ways = routes(source_model, find_converters(paths_of(pythons, "pythons") or None))
    with ConversionCache(default_folder() if cache is None else os.fsdecode(cache)) as kept:
        swept = sweep_targets(source_model, targets, ways, kept, asked)
        if best_for is not None and output is not None and not swept.is_interrupted:
            write_best(swept, best_for, os.fsdecode(output), replaces=force)
    return swept
