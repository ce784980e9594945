"""The public functions. Each imports what it needs when called, so that importing the package is fast."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from .arguments import (
    ModelLike,
    NodeLike,
    agreed,
    application_of,
    chain_of,
    changed_target,
    delegate_of,
    model_of,
    names_of,
    paths_of,
    public,
    require_truth,
    supposition_of,
    target_of,
    targets_of,
)

if TYPE_CHECKING:
    from ..device.compare.reconciliation import Reconciliation
    from ..device.parse.log_contents import DeviceLog
    from ..diagnosis.diagnosis import Diagnosis
    from ..fixing.fix import Fixed
    from ..gate.check import Checked
    from ..inference.difference import Difference
    from ..model.model import Model
    from ..results.compare.comparison import Comparison
    from ..results.report.accelerator_stack import StackResult
    from ..results.report.report import Report
    from ..sweeping.sweep_result import Swept


@public
def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path or from bytes.

    A file over 64 MiB is mapped into memory: it must not shrink while the model is used.
    Raises ModelError with one line that names the file and what is wrong with it.
    """
    return model_of(source)


@public
def analyze(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Report:
    """Apply a delegate to a model, that of NNAPI unless one is named, and report what the runtime would do.

    ``options`` are the delegate's, under its own names; those not given are taken from ``defaults`` (``api``: the
    delegate's own, ``benchmark``: what benchmark_model passes). ``runtime`` is the release whose rules and log
    lines are used, by default the newest; it may also be given among the options as ``release``. A model with an operator that
    the release does not load is refused, unless the application registers such operators itself
    (``assume_ops_registered``).
    Raises ModelError if the model cannot be read, OptionError for an unknown delegate, option, value or runtime.
    """
    from ..page.viewer import PageViewer
    from ..results.report.report import Report
    from ..runtime.interpreter import simulate

    loaded = model_of(model)
    target = target_of(delegate, options, runtime, defaults, assume_ops_registered)
    return Report(loaded, (simulate(loaded, target),), viewer=PageViewer())


@public
def simulate(
    model: ModelLike,
    delegates: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Report:
    """Apply delegates one after another, each to what those before it left, and report where every node finally runs.

    ``delegates`` are names with options, in the order in which the application applies them. The report has one run for each,
    and ``placement`` in its dictionary. Raises as ``analyze`` does, and OptionError if there is no delegate.
    """
    from ..page.viewer import PageViewer
    from ..results.report.report import Report
    from ..runtime.interpreter import simulate_chain

    targets = chain_of(delegates, runtime, defaults, assume_ops_registered)
    loaded = model_of(model)
    return Report(loaded, simulate_chain(loaded, targets), is_chain=True, viewer=PageViewer())


@public
def compiled_model(
    model: ModelLike,
    accelerators: str | Sequence[str] | None = None,
    soc: str = "",
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    assume_ops_registered: bool = False,
) -> StackResult:
    """Give a model to LiteRT 2's CompiledModel with some accelerators, and say where each node runs, or that there is none.

    ``accelerators`` are some of ``npu``, ``gpu`` and ``cpu``, by default all; they are applied in this order. With ``npu``,
    ``soc`` names the vendor and the SoC, such as ``google:Tensor_G5``: what the vendor's plugin selects counts as running there,
    though the vendor's compiler, which is not simulated, has yet to take it. ``options`` go to the plugin and the delegates that
    have them. The result has ``is_created``, ``notes`` on what CompiledModel does about failures, ``places()``, and the
    ``report`` of every step.
    Raises ModelError if the model cannot be read, OptionError for an unknown accelerator, vendor, option, value or runtime, and
    for a SoC without ``npu`` or the other way round.
    """
    from ..delegates.options import without_release
    from ..delegates.registry import ACCELERATORS
    from ..releases.catalogue import parse_release
    from ..results.report.accelerator_stack import Stack, parse_accelerators, simulate_stack

    require_truth("assume_ops_registered", assume_ops_registered)
    asked = parse_accelerators(",".join(ACCELERATORS if accelerators is None else names_of(accelerators, "accelerators")))
    if not isinstance(soc, str):
        raise OptionError(f"soc is a text such as 'google:Tensor_G5', not {soc!r}")
    if soc and "npu" not in asked:
        raise OptionError("soc is for the NPU, which is not among the accelerators")
    if options is not None and not isinstance(options, Mapping):
        raise OptionError(f"options are a mapping of names to values, not {options!r}")
    own, release = without_release(options or {})
    loaded = model_of(model)
    return simulate_stack(loaded, Stack(asked, soc, own, parse_release(agreed([runtime, release])), assume_ops_registered))


@public
def diagnose(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Diagnosis:
    """Find what keeps nodes of a model from a delegate, what each cause costs, and what to change.

    Arguments are those of ``analyze``. Refusals that one change would end are one cause; ``findings`` of the result has them in
    the order in which they are worth ending, each with what would be without it. Raises as ``analyze`` does.
    """
    from ..diagnosis.diagnose import diagnose

    target = target_of(delegate, options, runtime, defaults, assume_ops_registered)
    return diagnose(model_of(model), target)


@public
def compare(
    a: ModelLike,
    b: ModelLike | None = None,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    changed: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Comparison:
    """Tell what differs between two models on one target, or between two targets for one model, node by node.

    A is the model ``a`` on the target that the other arguments describe as for ``analyze``; B is the model ``b``, or ``a`` again,
    on the same target but for what ``changed`` sets: ``delegate``, ``runtime``, ``defaults``, or options of B's delegate.
    Nodes are matched by structure: one that was renumbered or renamed is still the same.
    Raises as ``analyze`` does, and OptionError if nothing differs between A and B.
    """
    from ..results.compare.compared_runs import simulated_side
    from ..results.compare.comparison import compare

    before = target_of(delegate, options, runtime, defaults, assume_ops_registered)
    after = changed_target(before, options, changed)
    first = model_of(a)
    if (b is None or b is a) and after == before:
        raise OptionError("nothing differs between A and B: give a second model, or changed={'delegate': ...}")
    second = first if b is None or b is a else model_of(b)
    return compare(simulated_side(first, before), simulated_side(second, after))


@public
def whatif(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    accept: Collection[str | NodeLike] = (),
    versions: Mapping[str | NodeLike, int] | None = None,
    batch: int | None = None,
    fix_shapes: bool = False,
    conversion: str | None = None,
    changed: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Comparison:
    """Tell what would be if something about a model, the delegate or the runtime were otherwise.

    A is the model as it is, on the target that the arguments describe as for ``analyze``. B is what is supposed: that the
    delegate accepts what ``accept`` names (operators, or nodes as index or (subgraph, index)), that operators or nodes have other
    ``versions``, that the first dimension of every input is ``batch``, that every tensor has the shape which the file gives it
    (``fix_shapes``), that it is converted without quantization or fully quantized (``conversion``: ``float``, ``int8`` or
    ``int8-per-tensor``), and that the target is ``changed`` as for ``compare``.
    Raises as ``analyze`` does, and OptionError if nothing is supposed or the model does not have what is named.
    """
    from ..hypothetical.hypothetical_changes import Supposition
    from ..results.compare.compared_runs import simulated_side, supposed_side
    from ..results.compare.comparison import compare

    before = target_of(delegate, options, runtime, defaults, assume_ops_registered)
    after = changed_target(before, options, changed)
    supposition = supposition_of(accept, versions, batch, fix_shapes, conversion)
    if after == before and supposition == Supposition():
        raise OptionError("no change is given: give accept, versions, batch, fix_shapes, conversion or changed")
    loaded = model_of(model)
    return compare(simulated_side(loaded, before), supposed_side(loaded, after, supposition))


@public
def fix(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None,
    delegates: str | Sequence[tuple[str, Mapping[str, Any]]],
    *,
    allow: str = "rounding",
    shapes: Mapping[str, Sequence[int]] | None = None,
    split_tail: bool = False,
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    samples: int = 2,
    replace: bool = False,
    proves: bool = True,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Fixed:
    """Rewrite a model so that delegates take more of it, and show that it still computes the same.

    ``delegates`` is a name, or pairs of a name and options: one is to be better off, and none worse. Passes are tried against the
    simulation; ``allow`` is the least exact kind of them (``exact``, ``rounding`` or ``approximate``). ``shapes`` fixes those of
    inputs, by name. The result's ``plan`` lists the passes. With an ``output`` the file is written there, unless no pass
    helps, once both models have run (``proves``) on ``samples`` inputs that are made up and on those of .npz files (``data``);
    ``replace`` lets it replace an existing file. ``split_tail`` writes trailing nodes that stay on the CPU as a second model
    beside it (``fixed.tail.tflite``), whose inputs are the first one's new outputs.
    Raises as ``analyze`` does, FixError where the model cannot be rewritten or does not compute the same, MissingPackageError
    without the extra ``fix``, OSError where the file cannot be written.
    """
    from ..fixing import search
    from ..fixing.fix import Fixed, fix
    from ..fixing.given_shapes import parse_shapes
    from ..fixing.passes.base import Exactness

    require_truth("replace", replace)
    require_truth("proves", proves)
    require_truth("split_tail", split_tail)
    kinds = {kind.name.lower(): kind for kind in Exactness}
    if allow not in kinds:
        raise OptionError(f"passes are {', '.join(kinds)}, not {allow!r}")
    targets = targets_of(delegates, runtime, defaults, assume_ops_registered)
    loaded = model_of(model)
    given = parse_shapes(loaded, [f"{name}={','.join(map(str, shape))}" for name, shape in (shapes or {}).items()])
    plan = search.search(loaded, targets, kinds[allow], given)
    if split_tail:
        plan = search.split_tail(plan)
    if output is None or not plan.is_changed:
        return Fixed(plan, None)
    return fix(plan, os.fsdecode(output), replaces=replace, proves=proves, data=paths_of(data, "data"), samples=samples)


@public
def sweep(
    source: str | os.PathLike[str],
    delegates: str | Sequence[tuple[str, Mapping[str, Any]]],
    *,
    everything: bool = False,
    settings: str | Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    data: str | os.PathLike[str] | None = None,
    best_for: str | None = None,
    output: str | os.PathLike[str] | None = None,
    replace: bool = False,
    pythons: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    time_limit: float | None = None,
    memory_limit: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    runtime: str | None = None,
    defaults: str = "api",
    assume_ops_registered: bool = False,
) -> Swept:
    """Convert a source model in many ways, and tell how every delegate takes what comes of each.

    ``source`` is a SavedModel folder, a Keras, ONNX or torch.export file, or ``module:function``; the converters are those of
    this Python, or of ``pythons``. ``delegates`` is a name, or pairs of a name and options. The search begins with float and with
    ``settings`` (``int8+dense-per-tensor``), and goes where diagnosis points; ``everything`` tries all that the converters know.
    ``shapes`` are what inputs are fixed to, ``data`` what quantizers measure ranges with: a .npz file, a folder of images or a
    function; by default numbers are drawn. The model that is ``best_for`` a target is written to ``output``, which
    ``replace`` lets replace a file. Limits are seconds and bytes for each step of a conversion. Conversions are kept in the
    folder ``cache``, by default the user's own. After KeyboardInterrupt the result has the finished rows (``is_interrupted``).
    Raises as ``analyze`` does, ModelError for a source that is not there or of no known form, FixError where nothing can be
    written. A conversion that fails is a row with the reason.
    """
    from ..conversion.cache import ConversionCache, default_folder
    from ..conversion.calibration import find_calibration
    from ..conversion.convert import Limits
    from ..conversion.converters import find_converters, routes
    from ..conversion.settings import parse_settings
    from ..conversion.sources import find_source
    from ..sweeping.shapes import parse_shapes
    from ..sweeping.sweep import sweep, with_labels
    from ..sweeping.sweep_result import SweepRequest
    from ..sweeping.writing import check_free, write_best

    require_truth("everything", everything)
    require_truth("replace", replace)
    targets = targets_of(delegates, runtime, defaults, assume_ops_registered)
    if (best_for is None) != (output is None):
        raise OptionError("best_for names the target whose best model is written to output: give both")
    labels = [target.label for target in with_labels(targets)]
    if best_for is not None and best_for not in labels:
        raise OptionError(f"there is no target {best_for!r}; there are {', '.join(labels)}")
    source_model = find_source(paths_of(source, "source")[0])
    if output is not None:
        check_free(source_model, os.fsdecode(output), replaces=replace)
    limits = Limits()
    asked = SweepRequest(
        tuple(map(parse_settings, names_of(settings, "settings"))),
        everything,
        find_calibration(None if data is None else paths_of(data, "data")[0]),
        Limits(limits.seconds if time_limit is None else time_limit, limits.memory if memory_limit is None else memory_limit),
        parse_shapes([f"{name}={','.join(map(str, sizes))}" for name, sizes in (shapes or {}).items()]),
    )
    ways = routes(source_model, find_converters(paths_of(pythons, "pythons") or None))
    with ConversionCache(default_folder() if cache is None else os.fsdecode(cache)) as kept:
        swept = sweep(source_model, targets, ways, kept, asked)
        if best_for is not None and output is not None and not swept.is_interrupted:
            write_best(swept, best_for, os.fsdecode(output), replaces=replace)
    return swept


def diff(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    samples: int = 2,
) -> Difference:
    """Run two models with the same interface on this CPU, and tell how their outputs differ, and their latency.

    They run on ``samples`` inputs that are made up, and on those of .npz files (``data``), on one thread and without a delegate.
    Raises ModelError if one cannot be read, FixError where their interfaces differ or one does not run, OptionError for inputs
    that do not fit, MissingPackageError without the extra ``fix``.
    """
    from ..inference.models import compare_models

    return compare_models(model_of(a), model_of(b), paths_of(data, "data"), samples)


def check(
    config: str | os.PathLike[str] | None = None,
    models: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    targets: str | Sequence[str] = (),
    *,
    update: bool = False,
    prune: bool = False,
    live: bool = False,
) -> Checked:
    """Hold every model of a configuration to its baseline and budgets on every target.

    ``config`` is the path of a ``delegate-sim.toml``, or of a ``pyproject.toml`` with ``[tool.delegate-sim]``; by default the
    nearest one from the working directory upwards. ``models`` and ``targets`` choose some of those that it names; a folder or a
    pattern stands for the models below it or that it matches. ``update`` writes the baseline for what was run, ``prune`` drops
    entries without a model or target. ``live`` also runs the real delegates on this host, where there is one: one that differs,
    or that cannot be run, is a finding.
    Raises ConfigurationError or BaselineError naming the file and what is wrong in it; a model that cannot be read is a case
    with the status ``unreadable``.
    """
    from ..bundles.model_files import files_for
    from ..gate.check import check_models
    from ..gate.configuration import find_configuration, read_configuration

    require_truth("update", update)
    require_truth("prune", prune)
    require_truth("live", live)
    chosen = [file for path in paths_of(models, "models") for file in files_for(path)]
    names = names_of(targets, "targets")
    path = find_configuration(os.getcwd()) if config is None else paths_of(config, "config")[0]
    return check_models(read_configuration(path), chosen, names, update=update, prune=prune, live=live)


@public
def reconcile(
    model: ModelLike,
    log: str | os.PathLike[str] | DeviceLog | Sequence[str | os.PathLike[str]],
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str | None = None,
    run: int | None = None,
) -> Reconciliation:
    """Hold what a device did to a model, according to its log, against the simulation, and account for what differs.

    ``log`` is the path of what benchmark_model, logcat or an application printed, a list of paths of logs of one run, or a log
    that was read; ``run`` is the run of a log that holds several, counted from 1, the last if not given. The delegate, its
    options, the runtime and the defaults are taken from the log if it shows them; arguments given here override it. Raises
    as ``analyze`` does, LogError for a log that cannot be read, ReconcileError for one that is not of the model or does not show
    which delegate was applied.
    """
    from ..device.compare.reconcile import reconcile
    from ..device.parse.applied_target import setting_of
    from ..device.parse.log import join_logs, read_runs_file
    from ..device.parse.log_contents import DeviceLog
    from ..device.parse.log_runs import chosen_run, separate_runs

    loaded = model_of(model)
    if isinstance(log, DeviceLog):
        read = log
    else:
        paths = paths_of(log, "log")
        if not paths:
            raise OptionError("no log is given")
        count = sum([bool(subgraph.nodes) for subgraph in loaded.subgraphs])
        read = join_logs([(path, chosen_run(separate_runs(read_runs_file(path), count), run)) for path in paths])
    if delegate is not None:
        delegate_of(delegate)
    first = setting_of(read, delegate, None, runtime, defaults)
    _, release = application_of(first.delegate.name, options, first.defaults)
    own = {key: value for key, value in (options or {}).items() if release is None or key != "release"}
    asked = None if runtime is None and release is None else agreed([runtime, release])
    return reconcile(loaded, read, setting_of(read, delegate, own, asked, defaults))
