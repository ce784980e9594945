"""Check models against a baseline, and logs against a simulation: ``delegate_sim.check`` and ``reconcile``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..bundles.model_files import files_for
from ..device.compare.reconcile import Reconciliation
from ..device.compare.reconcile import reconcile as reconcile_log
from ..device.parse.applied_target import setting_of
from ..device.parse.log import join_logs, read_runs_file
from ..device.parse.log_contents import DeviceLog
from ..device.parse.log_runs import chosen_run, separate_runs
from ..errors import OptionError
from ..foundation.work_budget import work_budget
from ..gate.check import Checked, check_models
from ..gate.configuration import find_configuration, read_configuration
from .arguments import agreed, application_of, delegate_of
from .calls import ModelLike, PathsLike, model_of, names_of, paths_of, public, require_bool


@public
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
    return reconcile_log(loaded, read, setting_of(read, delegate, own, asked, defaults))
