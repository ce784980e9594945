"""The public functions. Each function imports its dependencies when it is called, so importing the package is fast."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from .arguments import (
    ModelLike,
    NodeLike,
    PathsLike,
    agreed,
    application_of,
    chain_of,
    changed_target,
    delegate_of,
    hypothetical_changes_of,
    model_of,
    names_of,
    open_question_of,
    paths_of,
    public,
    require_bool,
    target_of,
    targets_of,
    targets_with,
    timings_of,
    warn_of_former_name,
)

if TYPE_CHECKING:
    from ..device.compare.reconcile import Reconciliation
    from ..device.parse.log_contents import DeviceLog
    from ..diagnosis.diagnosis import Diagnosis
    from ..fixing.fix import Fixed
    from ..gate.check import Checked
    from ..inference.difference import Difference
    from ..llm.report import BackendReport
    from ..micro.report import MicroReport
    from ..model.model import Model
    from ..results.compare.comparison import Comparison
    from ..results.report.accelerator_stack import StackResult
    from ..results.report.report import Report
    from ..runtime.run import Run
    from ..runtime.target import Target
    from ..sweeping.sweep_result import Swept
    from ..timing.measured import Timing


@public
def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path or from bytes.

    A file larger than 64 MiB is mapped into memory, so the file must not become shorter while the model is in use. If the
    identifier of a model is not ``TFL3``, only TensorFlow Lite Micro accepts the model, because it ignores the identifier.
    Raises ModelError if the model cannot be read.
    """
    return model_of(source, any_identifier=True)


@public
def analyze(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str | None = None,
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
    live: bool = False,
    device: str | None = None,
) -> Report:
    """Apply a delegate (NNAPI by default) to a model, and report what the runtime would do.

    ``options`` are options of the delegate, named like the flags of the command: ``feature_level`` for ``--feature-level``.
    ``device`` is a phone, SoC or board, such as ``pixel10``. The report then has a run for each delegate of the device, in
    the order in which an application should try them, or only for ``delegate`` if it is given. ``defaults`` selects the
    values of all other options. ``benchmark`` (the default without a device) selects the values that benchmark_model passes.
    ``api`` selects the defaults of the delegate's API. ``runtime`` selects the release of the runtime, by default the newest
    release. The option ``release`` does the same. A model is refused if the release cannot load an operator of it. If
    ``assume_ops_registered`` is true, the application is assumed to register these operators. ``op_profile`` is the path of
    an op profile of a device, or a list of paths. The report then has ``times``. With ``live``, the real delegate also runs
    on this host, and the report's ``live`` has the real decision. Delegates that cannot be simulated, such as
    ``ethos-u55-128``, need ``live``. The report of the delegate ``micro``, TensorFlow Lite Micro, has its ``application``: the
    result of ``analyze_micro``. Raises ModelError if the model cannot be read, and OptionError for an unknown delegate,
    option, value or runtime. Raises LogError for a profile without times, and ReconcileError for a profile of another model.
    """
    from ..delegates.registry import MICRO_NAME
    from ..graph.analysis_cache import AnalysisCache
    from ..page.viewer import PageViewer
    from ..results.report.report import Report
    from ..runtime.interpreter import simulate

    require_bool("live", live)
    loaded = model_of(model, any_identifier=delegate == MICRO_NAME)
    if live:
        if op_profile or assume_ops_registered:
            raise OptionError("live cannot be combined with op_profile or assume_ops_registered")
        return _live_report(loaded, targets_with(device, delegate, options, runtime, defaults, False, is_live=True)[0])
    targets = targets_with(device, delegate, options, runtime, defaults, assume_ops_registered)
    if delegate == MICRO_NAME and op_profile:
        raise OptionError("op_profile has times of LiteRT's interpreter: name a delegate")
    times, cache = timings_of(op_profile, loaded, targets), AnalysisCache()
    runs = tuple([simulate(loaded, target, cache=cache) for target in targets])
    return Report(loaded, runs, viewer=PageViewer(), times=times, adviser=_advised)


def _live_report(model: Model, target: Target) -> Report:
    from ..live.comparison import comparable_release, run_and_compare
    from ..live.live_runs import ready_engine
    from ..page.viewer import PageViewer
    from ..results.report.report import Report

    engine = ready_engine(target.delegate)
    run, result = run_and_compare(engine, model, target, comparable_release(engine, target.release))
    return Report(model, () if run is None else (run,), viewer=PageViewer(), live=(result,), adviser=_advised)


@public
def simulate(
    model: ModelLike,
    delegates: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Report:
    """Apply delegates one after another, and report where every node finally runs.

    Each delegate gets the nodes that the earlier delegates did not take. ``delegates`` are pairs of a name and options, in the
    order in which the application applies the delegates. The report has one run for each delegate, and its ``to_dict()`` has the
    key ``placement``. Raises the errors of ``analyze``, and OptionError if no delegate is given.
    """
    from ..page.viewer import PageViewer
    from ..results.report.report import Report
    from ..runtime.interpreter import simulate_chain

    targets = chain_of(delegates, runtime, defaults, assume_ops_registered)
    loaded = model_of(model)
    times, runs = timings_of(op_profile, loaded, targets), simulate_chain(loaded, targets)
    return Report(loaded, runs, is_chain=True, viewer=PageViewer(), times=times, adviser=_advised)


def _advised(model: Model, run: Run, is_alone: bool) -> Run:
    from ..diagnosis.advice.node_advice import advised

    return advised(model, run, is_alone)


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
    """Simulate LiteRT 2's CompiledModel with the given accelerators.

    The result tells whether the CompiledModel can be created (``is_created``) and where each node runs (``places()``). It also
    has ``notes`` about failures and the ``report`` of every step. ``accelerators`` lists some of ``npu``, ``gpu`` and ``cpu``,
    by default all three. The accelerators are applied in this order. ``npu`` requires ``soc``: a vendor and a SoC such as
    ``google:Tensor_G5``, or only the name of a SoC or a phone. ``places()`` assumes that every node that the vendor's plugin
    selects runs on the NPU. The vendor's compiler is not simulated, and may reject such a node. ``options`` are passed to the
    plugin and to the delegates that have these options. Without ``npu``, ``soc`` makes no difference. Raises ModelError if the
    model cannot be read, and OptionError for an unknown accelerator, vendor, SoC, option, value or runtime. Also raises
    OptionError if ``npu`` is given without ``soc``.
    """
    from ..delegates.devices import full_soc_name, recognized_soc_name
    from ..delegates.options import without_release
    from ..delegates.registry import ACCELERATORS
    from ..releases.catalogue import parse_release
    from ..results.report.accelerator_stack import Stack, parse_accelerators, simulate_stack

    require_bool("assume_ops_registered", assume_ops_registered)
    asked = parse_accelerators(",".join(ACCELERATORS if accelerators is None else names_of(accelerators, "accelerators")))
    if not isinstance(soc, str):
        raise OptionError(f"soc must be a string such as 'google:Tensor_G5', not {soc!r}")
    if options is not None and not isinstance(options, Mapping):
        raise OptionError(f"options must be a mapping of names to values, not {options!r}")
    own, release = without_release(options or {})
    loaded = model_of(model)
    name = (full_soc_name if "npu" in asked else recognized_soc_name)(soc) if soc else ""
    stack = Stack(asked, name if "npu" in asked else "", own, parse_release(agreed([runtime, release])), assume_ops_registered)
    return replace(simulate_stack(loaded, stack), adviser=_advised)


@public
def diagnose(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str | None = None,
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
    device: str | None = None,
) -> Diagnosis:
    """Find the causes that keep nodes of a model on the CPU, and what to change.

    Takes the arguments of ``analyze``. With ``device``, the first delegate of the device is diagnosed. Without a delegate,
    options and profiles, the accelerator that is the closest to running the whole model is diagnosed. Refusals share a cause
    if one change would remove all of them. The result's ``findings`` lists the causes, biggest gain first. Each finding has
    the outcome that is predicted if its cause is fixed. With ``op_profile``, the causes are ranked by measured time, and the
    result's ``times`` has the times and bounds on the time that each fix saves. Raises the errors of ``analyze``.
    """
    target = targets_with(device, delegate, options, runtime, defaults, assume_ops_registered)[0]
    loaded = model_of(model)
    if device is None and delegate is None and not options and not op_profile:
        target = open_question_of(loaded, target)
    timings = timings_of(op_profile, loaded, [target])
    if not timings:
        from ..diagnosis.diagnose import diagnose

        return diagnose(loaded, target)
    from ..timing.fixes import timed_diagnosis

    return timed_diagnosis(loaded, target, timings)[0]


@public
def compare(
    a: ModelLike,
    b: ModelLike | None = None,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    changed: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Comparison:
    """Compare two models on one target, or one model on two targets, node by node.

    Side A is the model ``a`` on the target that the other arguments describe (see ``analyze``). Side B is the model ``b``, by
    default ``a``. B's target is A's target with the changes in ``changed``: ``delegate``, ``runtime``, ``defaults``, or
    options of B's delegate. Nodes are matched by structure, so renumbered and renamed nodes still match. ``op_profile`` has
    the times of side A. A delegate that cannot be simulated, such as ``ethos-u55-128``, is run on this host. Raises the errors
    of ``analyze``, and OptionError if A and B have the same model and target.
    """
    from ..diagnosis.advice.node_advice import advised_comparison
    from ..live.live_runs import run_side
    from ..results.compare.comparison import compare

    before = target_of(delegate, options, runtime, defaults, assume_ops_registered, is_live=True)
    after = changed_target(before, options, changed, is_live=True)
    first = model_of(a)
    if (b is None or b is a) and after == before:
        raise OptionError("A and B are the same: give a second model, or changed={'delegate': ...}")
    second = first if b is None or b is a else model_of(b)
    comparison = advised_comparison(compare(run_side(first, before), run_side(second, after)))
    return _timed(comparison, timings_of(op_profile, first, [before]))


@public
def whatif(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    accept: Collection[str | NodeLike] = (),
    set_versions: Mapping[str | NodeLike, int] | None = None,
    batch: int | None = None,
    fix_shapes: bool = False,
    to: str | None = None,
    changed: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Comparison:
    """Simulate hypothetical changes of a model, a delegate or a runtime, and compare the result with the original.

    Side A is the unchanged model, on the target that the arguments describe (see ``analyze``). Side B has the hypothetical
    changes. On side B, the delegate accepts the operators and nodes in ``accept``. A node is given as its index, or as a pair of
    subgraph index and node index. ``set_versions`` sets the versions of operators or nodes. ``batch`` sets the first dimension of
    every input. With ``fix_shapes``, every tensor has the shape that is stored in the model file. ``to`` assumes another
    conversion: ``float``, ``int8``, ``int8-per-tensor``, or another value of ``whatif --to``. ``changed`` changes the target of
    side B (see ``compare``). ``op_profile`` has the times of side A. Raises the errors of ``analyze``, and OptionError if no
    change is given or the model lacks a named operator or node.
    """
    from ..diagnosis.advice.node_advice import advised_comparison
    from ..hypothetical.hypothetical_changes import HypotheticalChanges
    from ..results.compare.comparison import compare, hypothetical_side, simulated_side

    before = target_of(delegate, options, runtime, defaults, assume_ops_registered)
    after = changed_target(before, options, changed)
    hypothetical = hypothetical_changes_of(accept, set_versions, batch, fix_shapes, to)
    if after == before and hypothetical == HypotheticalChanges():
        raise OptionError("nothing to change: give accept, set_versions, batch, fix_shapes, to or changed")
    loaded = model_of(model)
    sides = simulated_side(loaded, before), hypothetical_side(loaded, after, hypothetical)
    return _timed(advised_comparison(compare(*sides)), timings_of(op_profile, loaded, [before]))


def _timed(comparison: Comparison, timings: Sequence[Timing]) -> Comparison:
    if not timings:
        return comparison
    from ..timing.fixes import timed_comparison

    return timed_comparison(comparison, timings)


@public
def fix(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None,
    delegates: str | Sequence[tuple[str, Mapping[str, Any]]],
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

    ``delegates`` is a name, or pairs of a name and options. A pass is kept if it improves the simulated result of at least one
    delegate and makes no delegate's result worse. ``allow`` limits how much passes may change the outputs of the model:
    ``exact``, ``rounding`` or ``approximate``. If ``passes`` is given, exactly these passes are tried, even if ``allow``
    excludes them. ``shapes`` sets fixed shapes of inputs, by name. The result's ``plan`` lists the passes. If a pass helps and
    ``output`` is given, the rewritten model is written to this file. ``force`` allows the function to replace an existing
    file. If ``proof`` is true, both models are run before the file is written. They run on ``samples`` random inputs and on
    the inputs in .npz files (``data``). With ``split_tail``, the last nodes that stay on the CPU are written as a second model
    in the same folder (``fixed.tail.tflite``). The inputs of the second model are the new outputs of the first model. With
    ``op_profile``, the result's ``times`` has the measured times of the unchanged model and bounds on the time that the fix
    saves. Raises the errors of ``analyze``, and FixError if the model cannot be rewritten or computes different results.
    Raises MissingPackageError if the extra ``fix`` is not installed, and OSError if the file cannot be written.
    """
    from ..fixing import search
    from ..fixing.fix import Fixed, fix, second_path_of
    from ..fixing.passes.base import Exactness
    from ..fixing.passes.catalogue import PASSES, choose_passes
    from ..foundation.limits import naming_model
    from ..foundation.outputs import OutputFile, check_output
    from ..hypothetical.fixed_inputs import parse_shapes

    require_bool("force", force)
    require_bool("proof", proof)
    require_bool("split_tail", split_tail)
    kinds = {kind.name.lower(): kind for kind in Exactness}
    if allow not in kinds:
        raise OptionError(f"passes are {', '.join(kinds)}, not {allow!r}")
    if unknown := [name for name in passes if name not in PASSES]:
        raise OptionError(f"there is no pass {unknown[0]!r}; the passes are {', '.join(PASSES)}")
    targets = targets_of(delegates, runtime, defaults, assume_ops_registered)
    loaded = model_of(model)
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
            fixed = fix(plan, os.fsdecode(output), replaces=force, proves=proof, data=paths_of(data, "data"), samples=samples)
    if not any(timings.values()):
        return fixed
    from ..timing.fixes import plan_times

    return replace(fixed, times=plan_times(plan, timings))


@public
def sweep(
    source: str | os.PathLike[str],
    delegates: str | Sequence[tuple[str, Mapping[str, Any]]],
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
    from the current Python interpreter, or from the interpreters in ``pythons``. ``delegates`` is a name, or pairs of a name
    and options. The search starts with float and with ``settings`` (such as ``int8+dense-per-tensor``). It continues with the
    settings that a diagnosis suggests. With ``all``, it tries all settings that the converters support. ``shapes`` sets fixed
    shapes of inputs. ``data`` is a .npz file, a folder of images or a function, by default random numbers. Quantizers
    calibrate with this data, and the outputs of the converted models are compared on it. Converting runs the code of a source
    or data function. ``run_model_code`` also allows converters to run code that is in a file, such as a Lambda layer. A
    converted model cannot be the best if its outputs differ from the float model's by more than ``max_difference``, or if it
    was calibrated with random numbers. The best model for the target ``best_for`` is written to ``output``. ``force`` allows
    the function to replace an existing file. ``time_limit`` (seconds) and ``memory_limit`` (bytes) apply to each step of a
    conversion. Conversions are cached in the folder ``cache``, by default in the user's cache folder. A failed conversion has
    a row with the reason. After KeyboardInterrupt, the result has the finished rows, and ``is_interrupted`` is true. Raises
    the errors of ``analyze``, ModelError if the source does not exist, has an unknown format, or has code that
    ``run_model_code`` does not allow, and FixError if the best model cannot be written.
    """
    from ..conversion.cache import ConversionCache, default_folder
    from ..conversion.calibration import find_calibration
    from ..conversion.converters import Limits, find_converters, routes
    from ..conversion.settings import parse_settings
    from ..conversion.sources import find_source
    from ..foundation.outputs import OutputFile, check_output, files_kept
    from ..runtime.target import with_labels
    from ..sweeping.search import parse_shapes
    from ..sweeping.sweep import sweep
    from ..sweeping.sweep_result import SweepRequest, write_best

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
        swept = sweep(source_model, targets, ways, kept, asked)
        if best_for is not None and output is not None and not swept.is_interrupted:
            write_best(swept, best_for, os.fsdecode(output), replaces=force)
    return swept


@public
def verify(a: str | os.PathLike[str], b: str | os.PathLike[str], *, data: PathsLike = (), samples: int = 2) -> Difference:
    """Run two models with the same interface on this CPU, and compare their outputs and their latency.

    Both models run on ``samples`` random inputs and on the inputs in .npz files (``data``), on one thread and without a delegate.
    Raises ModelError if a model cannot be read, and FixError if the interfaces differ or a model does not run. Raises OptionError
    if an input does not fit the models, and MissingPackageError if the extra ``fix`` is not installed.
    """
    from ..inference.models import compare_models

    return compare_models(model_of(a), model_of(b), paths_of(data, "data"), samples)


def diff(a: str | os.PathLike[str], b: str | os.PathLike[str], *, data: PathsLike = (), samples: int = 2) -> Difference:
    """Call ``verify``, and give a DeprecationWarning, because ``diff`` is the former name of ``verify``."""
    warn_of_former_name("diff", "verify")
    return verify(a, b, data=data, samples=samples)


def check(
    config: str | os.PathLike[str] | None = None,
    models: PathsLike = (),
    targets: str | Sequence[str] = (),
    *,
    update: bool = False,
    prune: bool = False,
    live: bool = False,
    run_configured_code: bool = False,
) -> Checked:
    """Check every model of a configuration against the baseline and the budgets, on every target.

    ``config`` is the path of a ``delegate-sim.toml``, or of a ``pyproject.toml`` with ``[tool.delegate-sim]``. By default, the
    nearest configuration is used: the working directory is searched first, then its parent folders. ``models`` and ``targets``
    restrict the check to some models and targets of the configuration. Models can also be selected by a folder (with its
    subfolders) or a pattern. ``update`` writes the baseline entries of the checked models and targets. ``prune`` removes
    entries if their model or target no longer exists. ``live`` also runs the real delegates that exist for this host. If a
    real delegate contradicts the prediction or cannot be run, the result has a finding. ``run_configured_code`` allows the
    programs and modules that the configuration names for its source models to run: set it only if you trust the configuration
    and its repository. Raises ConfigurationError or BaselineError. A model that cannot be read gets the status ``unreadable``.
    """
    from ..bundles.model_files import files_for
    from ..foundation.work_budget import work_budget
    from ..gate.check import check_models
    from ..gate.configuration import find_configuration, read_configuration

    require_bool("update", update)
    require_bool("prune", prune)
    require_bool("live", live)
    require_bool("run_configured_code", run_configured_code)
    chosen = [file for path in paths_of(models, "models") for file in files_for(path)]
    names = names_of(targets, "targets")
    path = find_configuration(os.getcwd()) if config is None else paths_of(config, "config")[0]
    with work_budget():
        return check_models(
            read_configuration(path),
            chosen,
            names,
            update=update,
            prune=prune,
            live=live,
            run_configured_code=run_configured_code,
        )


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
    """Compare the log of a device with the simulation of the model, and explain the differences.

    ``log`` is the path of a log, a list of paths of logs of one run, or a ``DeviceLog``. A log is the output of benchmark_model,
    of logcat or of an application. If a log contains several runs, ``run`` selects a run, counted from 1. By default, the last
    run is used. The delegate, its options, the runtime and the defaults are taken from the log if the log shows them. Arguments
    override the log. Raises the errors of ``analyze``, and LogError if the log cannot be read. Raises ReconcileError if the log
    belongs to another model or does not show that the delegate was applied.
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


@public
def analyze_micro(
    model: ModelLike, *, registered: Collection[str] | None = None, kernels: str = "reference", runtime: str | None = None
) -> MicroReport:
    """Report what TensorFlow Lite Micro does with a model: missing operators, refused nodes, and the size of the arena.

    ``registered`` names the operators in the application's resolver, such as ``CONV_2D`` or the name of a custom operator. By
    default, all operators of the runtime are registered. ``kernels`` is ``reference`` or ``cmsis-nn``. ``runtime`` names the
    copy of the runtime: a version of ``tflite-micro``, a day or a commit. ``target.runtime.is_checked`` of the result is False
    if the rules were not compared with this copy.
    Raises ModelError if the model cannot be read, and OptionError for unknown kernels or an unknown form of ``runtime``.
    """
    from ..micro.report import analyze as analyze_for_micro
    from ..micro.target import CHECKED, MicroTarget, parse_kernels, parse_micro_release

    release = CHECKED if runtime is None else parse_micro_release(runtime)
    operators = None if registered is None else frozenset(registered)
    target = MicroTarget(operators, parse_kernels(kernels), runtime=release)
    return analyze_for_micro(model_of(model, any_identifier=True), target)


@public
def analyze_bundle(
    path: str | os.PathLike[str], backend: str = "cpu", options: Mapping[str, Any] | None = None, *, runtime: str | None = None
) -> BackendReport:
    """Report whether LiteRT-LM's engine starts with a bundle (``.litertlm``). If not, report the check that fails.

    ``backend`` runs the text decoder: ``cpu``, ``gpu``, ``npu`` or ``gpu_artisan``. ``options`` may have ``vision`` and ``audio``
    (the backends for images and sound), ``cache_dir``, ``prompt``, and ``kw``. ``kw`` is a dictionary of settings of the engine,
    such as ``max_num_tokens``. The result has ``outcome`` (``starts``, ``refused``, ``starts-then-fails`` or ``crash``),
    ``stage``, ``error`` (the engine's own text), ``stop`` (section, signature and node) and ``replacements``.
    Raises ModelError if the file cannot be read, and OptionError for unknown arguments.
    """
    from ..llm.engine import run_engine
    from ..releases.catalogue import parse_release

    if not isinstance(backend, str):
        raise OptionError(f"backend must be a string such as 'cpu', not {backend!r}")
    if options is not None and not isinstance(options, Mapping):
        raise OptionError(f"options must be a mapping of names to values, not {options!r}")
    return run_engine(paths_of(path, "path")[0], backend, dict(options or {}), parse_release(agreed([runtime])))
