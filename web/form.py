"""The form of the page, which the build writes to a file, so that the page has it before Python is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.devices import NAMES, in_groups, simulated_socs
from delegate_sim.delegates.options import DEFAULT_SETS, Option, boolean, integer, option_as_typed
from delegate_sim.delegates.registry import ACCELERATORS, DELEGATE_NAMES, find_delegate
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, KNOWN_RELEASES
from delegate_sim.results.report.measures import FURTHER
from delegate_sim_cli.console.layout import default_text


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
