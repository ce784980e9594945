"""Rewrite a model, and compare the outputs of two models: ``delegate_sim.fix`` and ``verify``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..errors import OptionError
from ..fixing import search
from ..fixing.fix import Fixed, second_path_of
from ..fixing.fix import fix as write_fixed
from ..fixing.passes.base import Exactness
from ..fixing.passes.catalogue import PASSES, choose_passes
from ..foundation.limits import naming_model
from ..foundation.outputs import OutputFile, check_output
from ..hypothetical.fixed_inputs import parse_shapes
from ..inference.difference import Difference
from ..inference.models import compare_models
from ..runtime.target import ignore_identifier
from .arguments import targets_of, timings_of
from .calls import DelegatesLike, PathsLike, model_of, paths_of, public, require_bool, warn_of_former_name


@public
def fix(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None,
    delegates: DelegatesLike,
    *,
    allow: str = "rounding",
    passes: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    split_tail: bool = False,
    data: PathsLike = (),
    samples: int | None = None,
    force: bool = False,
    proof: bool = True,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Fixed:
    """Rewrite a model so that delegates take more nodes, and verify that the new model computes the same results.

    ``delegates`` is a name, or a list of names or pairs of a name and options. A pass is kept if it improves the simulated
    result of at least one delegate and makes no delegate's result worse. ``allow`` limits how much passes may change the
    outputs of the model: ``exact``, ``rounding`` or ``approximate``. If ``passes`` is given, exactly these passes are tried,
    even if ``allow`` excludes them. ``shapes`` sets fixed shapes of inputs, by name. The result's ``plan`` lists the passes.
    If a pass helps and ``output`` is given, the rewritten model is written to this file. ``force`` allows the function to
    replace an existing file. If ``proof`` is true, both models are run before the file is written. They run on ``samples``
    random inputs and on the inputs in .npz files (``data``). With ``split_tail``, the last nodes that stay on the CPU are
    written as a second model in the same folder (``fixed.tail.tflite``). The inputs of the second model are the new outputs of
    the first model. With ``op_profile``, the result's ``times`` has the measured times of the unchanged model and bounds on
    the time that the fix saves. Raises the errors of ``analyze``, and FixError if the model cannot be rewritten or computes
    different results. Raises MissingPackageError if the extra ``fix`` is not installed, and OSError if the file cannot be
    written.
    """
    require_bool("force", force)
    require_bool("proof", proof)
    require_bool("split_tail", split_tail)
    kinds = {kind.name.lower(): kind for kind in Exactness}
    if allow not in kinds:
        raise OptionError(f"passes are {', '.join(kinds)}, not {allow!r}")
    if unknown := [name for name in passes if name not in PASSES]:
        raise OptionError(f"there is no pass {unknown[0]!r}; the passes are {', '.join(PASSES)}")
    targets = targets_of(delegates, runtime, defaults, assume_ops_registered)
    loaded = model_of(model, any_identifier=ignore_identifier(targets))
    given = parse_shapes(loaded, [f"{name}={','.join(map(str, shape))}" for name, shape in (shapes or {}).items()])
    allowed, chosen = choose_passes(passes, kinds[allow])
    written = [] if output is None else [os.fsdecode(output)]
    for path in [*written, *(map(second_path_of, written) if split_tail else ())]:
        check_output(OutputFile(path, is_forced=force), [] if loaded.path is None else [loaded.path])
    timings = {target.delegate.name: timings_of(op_profile, loaded, [target]) for target in targets}
    with naming_model(loaded.path):
        plan = search.try_shapes(search.search(loaded, targets, allowed, given, chosen), chosen)
        if split_tail:
            plan = search.split_tail(plan)
        if output is None or not plan.is_changed:
            fixed = Fixed(plan, None)
        else:
            fixed = write_fixed(
                plan, os.fsdecode(output), replaces=force, proves=proof, data=paths_of(data, "data"), samples=samples
            )
    if not any(timings.values()):
        return fixed
    from ..timing.fixes import plan_times  # slow to import, and only needed for profiles

    return replace(fixed, times=plan_times(plan, timings))


@public
def verify(a: str | os.PathLike[str], b: str | os.PathLike[str], *, data: PathsLike = (), samples: int = 2) -> Difference:
    """Run two models with the same interface on this CPU, and compare their outputs and their latency.

    Both models run on ``samples`` random inputs and on the inputs in .npz files (``data``), on one thread and without a delegate.
    Raises ModelError if a model cannot be read, and FixError if the interfaces differ or a model does not run. Raises OptionError
    if an input does not fit the models, and MissingPackageError if the extra ``fix`` is not installed.
    """
    return compare_models(model_of(a), model_of(b), paths_of(data, "data"), samples)


@public
def diff(a: str | os.PathLike[str], b: str | os.PathLike[str], *, data: PathsLike = (), samples: int = 2) -> Difference:
    """Call ``verify``, and give a DeprecationWarning, because ``diff`` is the former name of ``verify``."""
    warn_of_former_name("diff", "verify")
    return verify(a, b, data=data, samples=samples)
