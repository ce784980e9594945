"""``analyze`` for bundles of LiteRT-LM: the result of the engine on each backend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from delegate_sim.bundles.formats import LITERTLM, format_at
from delegate_sim.errors import ModelError, OptionError
from delegate_sim.live.litert_lm import LiveBundle, lacking, run_bundle
from delegate_sim.llm.bundle import JUDGED, parsed_backend
from delegate_sim.llm.engine import KNOWN_OPTIONS, run_engine, run_on_targets
from delegate_sim.llm.report import engine_document
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.runtime.target import Target

from ...answers import Answer, ModelTable, write_all
from ...console.terminal import Line, width
from ...exits import FINDINGS, USAGE
from ...models import Models
from ...text.bundles import ENGINE, answer_lines, engine_lines, engine_row, live_bundle_lines
from .analysis import Request

_FORMS = ("text", "json")
_BACKEND = "backend"
_LIVE_PROMPT = "Hello 123"
"""A prompt of at least two tokens. The engine runs no prefill signature for a prompt of one token."""


def analyze_bundles(request: Request) -> int:
    """Analyze bundles on the backends that the options name, and return the exit code. By default, all backends are analyzed.

    With ``--live``, also run the real engine. The exit code is then 1 if an answer of the engine differs from the simulation,
    and 2 if the engine ran on none of the backends.
    """
    live = request.live
    if request.outputs.form not in _FORMS or request.outputs.files:
        raise click.UsageError(
            "for a bundle, --format must be text or json, and --report is not available: analyze a model of the bundle instead"
        )
    if live.live_report is not None:
        raise click.UsageError("--live-report is not available for a bundle: --format json has the differences")
    if live.live and lacking():
        raise OptionError(f"LiteRT-LM's engine cannot run here: {lacking()} is missing ('delegate-sim doctor' shows more)")
    backends, options = _options(request.arguments.pairs)
    release = parse_release(request.arguments.runtime)

    if live.live:
        options = {"prompt": _LIVE_PROMPT, **options}  # both engines then read the same number of tokens
    every: list[LiveBundle] = []

    def answer(path: str) -> Answer:
        reports = [run_engine(path, backend, options, release) for backend in backends]
        results = [run_bundle(report) for report in reports] if live.live else []
        every.extend(results)
        return Answer(
            lambda: [engine_document(path, reports, results)],
            lambda: [*engine_lines(reports, width(), request.verbose), *live_bundle_lines(results, width())],
            lambda: [engine_row(reports)],
        )

    models, table = Models(request.models, are_bundles=True), ModelTable(ENGINE, request.verbose)
    code = write_all(models, request.outputs, table, answer)
    if every and not any(result.is_run for result in every):
        return USAGE
    return code or (FINDINGS if any(result.differences for result in every) else code)


def engine_answers(paths: Sequence[str], targets: Sequence[Target]) -> Iterator[Line]:
    """Yield what the engine does with each bundle on the backends that use the delegates of ``targets``.

    Bundles that cannot be read are left out.
    """
    for path in paths:
        if format_at(path) != LITERTLM:
            continue
        with suppress(ModelError):
            yield from answer_lines(path, run_on_targets(path, targets), width())
            yield Line("")


def _options(pairs: Sequence[str]) -> tuple[Sequence[str], Mapping[str, Any]]:
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
            words = {"true": True, "false": False}
            settings[key] = words.get(value.lower(), int(value) if value.isdecimal() else value)
    if settings:
        options["kw"] = settings
    return backends or [backend.lower() for backend in JUDGED], options
