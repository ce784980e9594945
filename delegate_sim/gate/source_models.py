"""Source models of a configuration, and their conversion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..conversion.cache import ConversionCache, default_folder
from ..conversion.calibration import find_calibration
from ..conversion.convert import Conversion, convert
from ..conversion.converters import Limits, Route, find_converters, routes
from ..conversion.settings import FLOAT, Settings, knows, parse_settings
from ..conversion.sources import find_source
from ..errors import ModelError, OptionError
from ..foundation.parsing.invalid_value import InvalidValueError, expected_of
from ..foundation.printable import printable
from .configuration_table import ConfigurationProblem, ConfigurationTable, parse_inside, parse_text, parse_texts, path_below

CONSENT_OPTION = "--run-configured-code"
CONSENT_VARIABLE = "DELEGATE_SIM_RUN_CONFIGURED_CODE"
_GIB = 1 << 30
_MOST = 1_000_000
"""Largest number of seconds or GiB."""


@dataclass(frozen=True, slots=True)
class ConfiguredSource:
    """A source model and the settings of the conversion. ``name`` is the model's name in the baseline.

    ``text`` names the source, and ``data`` names the calibration data, with absolute paths. ``path`` is the source's path
    relative to the configuration's folder, with slashes. ``path`` is empty if the source is a function of a module.
    """

    name: str
    text: str
    path: str
    settings: Settings
    converter: str
    """The name of a converter (``Route.name``). If empty, the first installed converter that supports the settings is used."""
    data: str | None
    pythons: tuple[str, ...]
    limits: Limits
    code_key: tuple[str | int, ...] = ()
    """The first key that names code of the user: a program, or a function of a module. Empty if there is no such key."""
    code_place: str = ""
    """The file and the line of ``code_key``."""


def read_source(name: str, table: ConfigurationTable, root: str) -> ConfiguredSource:
    """Read a table of ``sources``. Raises ConfigurationProblem if the table is invalid."""
    try:
        parse_inside(name)
    except ValueError as error:
        raise ConfigurationProblem(table.key, expected_of(error)) from error
    text = table.take("source", lambda value: _place(root, value))
    if text is None:
        raise ConfigurationProblem(table.key, 'has no source; write one as source = "model.keras"')
    limits = Limits()
    settings = table.take("settings", _settings, FLOAT)
    converter = table.take("converter", parse_text, "")
    data = table.take("data", lambda value: _place(root, value))
    pythons = table.take("python", parse_texts, ())
    seconds = table.take("time-limit", _positive, limits.seconds)
    memory = table.take("memory-limit", _positive, limits.memory / _GIB)
    table.finish()
    return ConfiguredSource(
        name,
        _from(root, text),
        _file_of(text),
        settings,
        converter,
        None if data is None else _from(root, data),
        tuple([os.path.join(root, python) for python in pythons]),
        Limits(seconds, round(memory * _GIB)),
        next(((*table.key, key) for key in ("python", "source", "data") if _names_code(key, table.content.get(key))), ()),
    )


def _names_code(key: str, value: Any) -> bool:
    return bool(value) and (key == "python" or _file_of(value) != value)


def converted(source: ConfiguredSource, *, run_configured_code: bool = False) -> Conversion:
    """Convert a source model, or return the cached conversion.

    If ``run_configured_code`` is False, programs and modules that the configuration names are neither run nor imported. Raises
    ModelError if the conversion needs them or fails, and OptionError if the calibration data is invalid.
    """
    if source.code_key and not run_configured_code:
        what = "program" if source.code_key[-1] == "python" else "module"
        key = ".".join(map(str, source.code_key[-3:]))
        raise ModelError(
            printable(
                f"{source.code_place}: {key}: names a {what}, which runs only with the option {CONSENT_OPTION} of check (or with "
                f"{CONSENT_VARIABLE}=1); give it if you trust this file and its repository"
            )
        )
    model = find_source(source.text)
    calibration = find_calibration(source.data)
    route = _route(source, routes(model, find_converters(source.pythons or None)))
    with ConversionCache(default_folder()) as cache:
        conversion = convert(model, route, source.settings, cache, calibration, source.limits)
    if conversion.failure is not None:
        raise ModelError(printable(f"{source.path or source.text}: {conversion.failure.kind.value}: {conversion.failure.line}"))
    return conversion


def _route(source: ConfiguredSource, candidates: Sequence[Route]) -> Route:
    """Return the first route that supports the settings. Routes with an installed converter are preferred.

    Raises ModelError if no route supports the settings.
    """
    able = [route for route in candidates if source.converter in ("", route.name) and knows(route, source.settings)]
    if not able:
        names = ", ".join(dict.fromkeys([route.name for route in candidates])) or "none"
        reason = f"{source.converter} does not convert" if source.converter else "no converter takes"
        raise ModelError(
            printable(
                f"{source.path or source.text}: {reason} this source with {source.settings.name}; its converters are {names}"
            )
        )
    return next((route for route in able if not route.is_missing), able[0])


def _settings(value: Any) -> Settings:
    try:
        return parse_settings(parse_text(value))
    except OptionError as error:
        raise InvalidValueError('takes settings such as "int8+fixed" (see delegate-sim sweep --help)') from error


def _place(root: str, value: Any) -> str:
    """Return the location of a source or of data: a path in the configuration's folder, or the name of a function.

    The name of a function starts with a path or with the name of a module.
    """
    text = parse_text(value)
    path_below(root, _file_of(text) or ".")
    return parse_inside(text)


def _file_of(text: str) -> str:
    place, _, function = text.rpartition(":")
    if not place or not function.isidentifier():
        return text
    if place.endswith(".py"):
        return place
    return "" if all(part.isidentifier() for part in place.split(".")) else text


def _from(root: str, text: str) -> str:
    """Return ``text``. If it begins with a path, the path is joined with the folder ``root``."""
    return os.path.join(root, text) if _file_of(text) else text


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST:
        raise InvalidValueError(f"takes a number above 0 (at most {_MOST:,})")
    return float(value)
