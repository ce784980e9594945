"""``analyze`` for bundles of LiteRT-LM: the result of the engine on each backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from delegate_sim.llm.backends import JUDGED, parsed_backend
from delegate_sim.llm.engine import KNOWN_OPTIONS, run_engine
from delegate_sim.releases.catalogue import parse_release

from ...answers import Answer, ModelTable, write_answers
from ...console.terminal import width
from ...models import Models
from ...options.targets import TargetArguments
from ...text.bundles import engine_columns, engine_entry, engine_lines, engine_row
from .documents import Outputs

_FORMS = ("text", "json")
_BACKEND = "backend"


def analyze_bundles(paths: Sequence[str], arguments: TargetArguments, outputs: Outputs, *, verbose: bool) -> int:
    """Analyze bundles on the backends that the options name, by default on all backends, and return the exit code."""
    if outputs.form not in _FORMS or outputs.files:
        raise click.UsageError(
            "for a bundle, --format must be text or json, and --report is not available: analyze a model of the bundle instead"
        )
    backends, options = _options(arguments.pairs)
    release = parse_release(arguments.runtime)

    def answer(path: str) -> Answer:
        reports = [run_engine(path, backend, options, release) for backend in backends]
        return Answer(
            lambda: [engine_entry(path, reports)],
            lambda: engine_lines(reports, width(), verbose),
            lambda: [engine_row(reports)],
        )

    models = Models(paths, are_bundles=True)
    return write_answers(models, outputs.form, outputs.output, ModelTable(engine_columns(), verbose), answer)


def _options(pairs: Sequence[str]) -> tuple[Sequence[str], Mapping[str, Any]]:
    """Return the backends and the engine's options, given as KEY=VALUE. Raises UsageError."""
    backends, options, settings = list[str](), dict[str, Any](), dict[str, Any]()
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.replace("-", "_")
        if not equals:
            raise click.UsageError(f"--option {pair}: give it as KEY=VALUE")
        if key == _BACKEND:
            if parsed_backend(value) is None:
                raise click.UsageError(f"there is no backend {value!r}; the backends are {', '.join(JUDGED).lower()}")
            backends.append(value)
        elif key in KNOWN_OPTIONS and key != "kw":
            options[key] = value
        elif key != "release":
            settings[key] = _setting(value)
    if settings:
        options["kw"] = settings
    return backends or [backend.lower() for backend in JUDGED], options


def _setting(value: str) -> Any:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    return int(value) if value.isdecimal() else value
