"""Simulate delegates on a model: ``delegate_sim.analyze`` and ``simulate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..diagnosis.advice.node_advice import advised
from ..errors import OptionError
from ..graph.analysis_cache import AnalysisCache
from ..model.model import Model
from ..page.viewer import PageViewer
from ..results.report.report import Report
from ..runtime.interpreter import simulate as simulate_target
from ..runtime.interpreter import simulate_chain
from ..runtime.target import Target, ignore_identifier
from .arguments import chain_of, targets_with, timings_of
from .calls import DelegatesLike, ModelLike, PathsLike, model_of, public, require_bool


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
    require_bool("live", live)
    if live and (op_profile or assume_ops_registered):
        raise OptionError("live cannot be combined with op_profile or assume_ops_registered")
    targets = targets_with(device, delegate, options, runtime, defaults, assume_ops_registered, is_live=live)
    loaded = model_of(model, any_identifier=ignore_identifier(targets))
    if live:
        return _live_report(loaded, targets[0])
    times, cache = timings_of(op_profile, loaded, targets), AnalysisCache()
    runs = tuple([simulate_target(loaded, target, cache=cache) for target in targets])
    return Report(loaded, runs, viewer=PageViewer(), times=times, adviser=advised)


def _live_report(model: Model, target: Target) -> Report:
    from ..live.comparison import comparable_release, run_and_compare  # slow to import, and only needed to run delegates
    from ..live.live_runs import ready_engine

    engine = ready_engine(target.delegate)
    run, result = run_and_compare(engine, model, target, comparable_release(engine, target.release))
    return Report(model, () if run is None else (run,), viewer=PageViewer(), live=(result,), adviser=advised)


@public
def simulate(
    model: ModelLike,
    delegates: DelegatesLike,
    *,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Report:
    """Apply delegates one after another, and report where every node finally runs.

    Each delegate gets the nodes that the earlier delegates did not take. ``delegates`` is a name, or a list of names or pairs
    of a name and options, in the order in which the application applies the delegates. The report has one run for each
    delegate, and its ``to_dict()`` has the key ``placement``. Raises the errors of ``analyze``, and OptionError if no delegate
    is given.
    """
    targets = chain_of(delegates, runtime, defaults, assume_ops_registered)
    loaded = model_of(model, any_identifier=ignore_identifier(targets))
    times, runs = timings_of(op_profile, loaded, targets), simulate_chain(loaded, targets)
    return Report(loaded, runs, is_chain=True, viewer=PageViewer(), times=times, adviser=advised)
