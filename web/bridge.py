"""What the page calls: the form of the options, the models in a file, and a run of the command line in this process.

Every function takes plain values and returns JSON, because the page's worker passes text between JavaScript and Python.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from delegate_sim.bundles.bundle_error import BundleError
from delegate_sim.bundles.formats import MODEL, format_at
from delegate_sim.bundles.members import models_in
from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.devices import in_groups
from delegate_sim.delegates.npu.soc_names import NAMES, simulated_socs
from delegate_sim.delegates.options import DEFAULT_SETS, Option, boolean, integer, option_as_typed
from delegate_sim.delegates.registry import ACCELERATORS, DELEGATE_NAMES, find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.foundation.late_numpy import MISSING
from delegate_sim.foundation.limits import exhausted
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, KNOWN_RELEASES
from delegate_sim.results.report.measures import FURTHER
from delegate_sim_cli.console.layout import default_text
from delegate_sim_cli.console.terminal import report_progress
from delegate_sim_cli.main import program

_NUMPY = "numpy"


def form() -> str:
    """Return what the page's form offers: releases, sets of defaults, SoCs, and the delegates with their options.

    Delegates are grouped by devices. The default is the first that is not deprecated.
    """
    groups = [(title, [DELEGATE_NAMES[place] for place in places]) for title, places in in_groups(DELEGATE_NAMES)]
    names = [name for _, members in groups for name in members]
    return json.dumps(
        {
            "default_delegate": next(name for name in names if not find_delegate(name).deprecated),
            "delegates": [_delegate(find_delegate(name)) for name in names],
            "groups": groups,
            "releases": {"choices": [DEFAULT_RELEASE, *reversed(KNOWN_RELEASES)], "default": DEFAULT_RELEASE},
            "defaults": {"choices": DEFAULT_SETS, "default": "benchmark"},
            "accelerators": list(ACCELERATORS),
            "socs": _socs(),
            "further": [(column.title, column.key, column.better) for column in FURTHER],
        }
    )


def run(arguments: Sequence[str], progress: Callable[[str, float], object] | None = None) -> str:
    """Run a command and return its exit code and what it printed.

    ``progress`` is called with a description of the current work and the share that is done, or -1 if the share is unknown.
    ``needs`` names the package that the command needed and that is not installed, or is null.
    """
    out, err = _stream(), _stream()
    if progress is not None:
        report_progress(progress)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            program.main(list(arguments))
        except SystemExit as end:
            code = end.code or 0
    output, error = _text(out), _text(err)
    needs = _NUMPY if _says(MISSING, error) or _says(MISSING, output) else None
    return json.dumps({"exit": code, "output": output, "error": error.rstrip("\n"), "needs": needs})


def models(path: str) -> str:
    """Return the addresses of the models in a file, as commands take them. The only model of a model file is the file itself.

    ``error`` is one line if the bundle cannot be read.
    """
    error = ""
    addresses = [path]
    if format_at(path) not in (MODEL, None):
        try:
            addresses = models_in(path)
        except (MemoryError, RecursionError) as fault:
            addresses, error = [], str(exhausted(fault, path))
        except (BundleError, DelegateSimError, OSError) as fault:
            addresses, error = [], str(fault)
    return json.dumps({"models": addresses, "error": error})


def _says(message: str, text: str) -> bool:
    """Return whether a text has a message, which may be broken into lines."""
    return _NUMPY in text and message in " ".join(text.split())


def _delegate(delegate: Delegate) -> dict[str, Any]:
    return {
        "name": delegate.name,
        "title": "" if delegate.is_plugin else (delegate.title or delegate.provider_name).removeprefix("The "),
        "deprecated": delegate.deprecated,
        "summary": delegate.summary,
        "is_plugin": delegate.is_plugin,
        "options": [_option(delegate, option) for option in delegate.options if option.changes_verdicts],
        "level": _level(delegate),
    }


def _level(delegate: Delegate) -> dict[str, Any] | None:
    """Return the option with the feature level, the option with the platform's release, and the level of each release."""
    platform, levels = delegate.behind.platform, delegate.levels
    if platform is None or levels is None:
        return None
    keys = {option.name: option.key for option in delegate.options}
    release = next(option for option in delegate.options if option.name == platform.option)
    defaults = {option.name: option.default_in(DEFAULT_SETS[0]) for option in delegate.options}
    by_release = {name: delegate.behind.level({**defaults, release.name: name}) for name in release.choices}
    return {"option": keys[levels.option], "release": release.key, "by_release": by_release}


def _option(delegate: Delegate, option: Option) -> dict[str, Any]:
    defaults = {name: default_text(option.default_in(name)) for name in DEFAULT_SETS}
    kinds: dict[Callable[[Any], Any], str] = {boolean: "boolean", integer: "integer"}
    return {
        "name": option.key,
        "flag": option_as_typed(delegate.options, option.name),
        "type": "file" if option.is_path else "choice" if option.choices else kinds.get(option.parse, "text"),
        "choices": option.choices,
        "defaults": defaults,
        "help": option.described,
    }


def _socs() -> list[dict[str, Any]]:
    """Return the SoCs that can be simulated, with the phones and trade names that people know them by."""
    return [{"name": soc, "also": NAMES.get(soc, ())} for soc in dict.fromkeys(simulated_socs().values())]


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    content = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return str(content.decode("utf-8"))
