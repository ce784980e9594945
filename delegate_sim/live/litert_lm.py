"""Run LiteRT-LM's real engine on a bundle, and compare the result with the simulation.

The engine is in the Python package ``litert-lm-api``, which users install themselves.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..foundation import packages
from ..foundation.columns import LIST, YES_OR_NO, Column, Declared, attributes
from ..foundation.printable import install_command
from ..llm.bundle import CPU, GPU, NPU
from ..llm.compiled import replacement_in
from ..llm.report import CRASH, ENGINE, FAILS_LATER, REFUSED, STARTS, BackendReport, BundleReplacement
from . import litert_engines
from .engine import Finished, run_module
from .litert_lm_worker import REFUSED_STATUS

NAME = "litert-lm"
PACKAGE, _MODULE = "litert-lm-api", "litert_lm"
BACKENDS = (CPU, GPU, NPU)
"""The backends that the Python package offers."""
_WORKER = "delegate_sim.live.litert_lm_worker"
_FAILED = re.compile(r"(?:[EWI]\d{4} .*?\] )?Failed to (?:create engine|create session|run prefill|run decode): (?P<text>.*)")
_FURTHER = "└"
_VERBOSE = re.compile(r"(?:VERBOSE|INFO): ")
_NO_ADAPTER = "No adapters found"
_WRONG_FILE, _WRONG_MAGIC = b"LITERTLX" + bytes(64), "Invalid magic number"


@dataclass(frozen=True, slots=True)
class LiveBundle(Declared):
    """The result of the real engine for a bundle on one backend, and the differences from the simulation."""

    columns = (
        *(Column("backend", source=lambda live: live.backend.lower()), Column("software")),
        *(
            Column("run", YES_OR_NO, source="is_run"),
            Column("lacks"),
            Column("outcome", source=lambda live: live.outcome or None),
        ),
        *(*attributes("stage", "error"), Column("replacements", LIST, parts=BundleReplacement.columns)),
        *(Column("equal", YES_OR_NO, source=lambda live: live.is_run and not live.differences), Column("differences", LIST)),
    )

    backend: str
    software: str
    outcome: str = ""
    stage: str | None = None
    error: str | None = None
    """The engine's error message; None if the engine starts or crashes."""
    replacements: tuple[BundleReplacement, ...] = ()
    lacks: str = ""
    """Requirements that are missing on this host. If any is missing, the engine did not run."""
    differences: tuple[str, ...] = ()

    @property
    def is_run(self) -> bool:
        """True if the engine ran."""
        return not self.lacks


def software() -> str:
    """Return the name and version of the installed package; empty if it is not installed."""
    version = packages.package_version(PACKAGE)
    return f"{PACKAGE} {version}" if version else ""


def lacking(backend: str = CPU) -> str:
    """Return the known missing requirements for a backend on this host; empty if there are none."""
    if packages.package_folder(_MODULE) is None:
        return f"{PACKAGE}: {install_command('litert-lm')}"
    if backend not in BACKENDS:
        return f"a Python interface to {backend.lower()}, which {PACKAGE} does not have"
    if backend == GPU and litert_engines.driver_environment() is None:
        return litert_engines.INSTALL
    return ""


def try_engine() -> str:
    """Run the engine on a file that is no bundle.

    Return the missing requirements or the engine's failure; empty if the engine runs.
    """
    missing = lacking()
    if missing:
        return missing
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bundle.litertlm")
        path.write_bytes(_WRONG_FILE)
        finished, _ = _run(str(path), {"backend": CPU.lower()}, folder)
    return "" if _WRONG_MAGIC in finished.output else finished.words or "the engine does not check the file"


def run_bundle(report: BackendReport) -> LiveBundle:
    """Run the engine on the bundle of a simulated report, with the same backend and options, and compare the two results."""
    lacks = lacking(report.backend)
    if lacks:
        return LiveBundle(report.backend, software(), lacks=lacks)
    with tempfile.TemporaryDirectory() as folder:
        arguments = {**report.options, "backend": report.backend.lower()}
        finished, stage = _run(os.path.abspath(report.path), arguments, folder)
    lines = finished.output.splitlines()
    if report.backend == GPU and any(_NO_ADAPTER in line for line in lines):
        return LiveBundle(report.backend, software(), lacks=litert_engines.INSTALL)
    outcome = _outcome(finished, stage)
    live = LiveBundle(
        report.backend, software(), outcome, None if outcome == STARTS else stage, _error(lines), _replacements(lines)
    )
    return replace(live, differences=tuple(_differences(live, report)))


def _run(path: str, arguments: dict[str, Any], folder: str) -> tuple[Finished, str]:
    """Run the worker. Return how the process ended, and the last stage that the worker reached.

    The stage is empty if all stages ended.
    """
    stage = Path(folder, "stage")
    environment = litert_engines.with_driver(litert_engines.driver_environment())
    finished = run_module(_WORKER, [path, json.dumps(arguments), str(stage)], environment, folder)
    return finished, stage.read_text(encoding="utf-8") if stage.is_file() else ENGINE


def _outcome(finished: Finished, stage: str) -> str:
    if not finished.words:
        return STARTS
    if finished.status != REFUSED_STATUS:
        return CRASH
    return REFUSED if stage == ENGINE else FAILS_LATER


def _error(lines: Iterable[str]) -> str | None:
    """Return the engine's error message, without the trace of its source code; None if there is no message."""
    text: list[str] = []
    for line in lines:
        match = _FAILED.match(line)
        if match is not None:
            text = [match["text"]]
        elif text and line.startswith(_FURTHER):
            text.append(line)
        elif text:
            break
    return "\n".join(text) or None


def _replacements(lines: Iterable[str]) -> tuple[BundleReplacement, ...]:
    replacements = [replacement_in(_VERBOSE.sub("", line, count=1), "") for line in lines]
    return tuple([line for line in replacements if line is not None])


def _differences(live: LiveBundle, simulated: BackendReport) -> Iterator[str]:
    """Yield the differences in the outcome, the stage, the error and the delegates' lines. Equal lines at the start are left out.

    After a crash, only the outcome is compared, because the engine prints no error, and its buffered lines are lost.
    """
    if live.outcome != simulated.outcome:
        yield f"live: {live.outcome}; simulated: {simulated.outcome}"
        return
    if live.outcome == CRASH:
        return
    if live.stage != simulated.stage:
        yield f"live: stops in the stage {live.stage}; simulated: {simulated.stage}"
    if simulated.error and simulated.error not in (live.error or ""):
        yield f"live: {live.error or 'no error'}; simulated: {simulated.error}"
    own, others = _lines(live.replacements), _lines(simulated.replacements)
    if own != others:
        equal = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(own, others, strict=False)))
        yield f"replaced nodes: live {_listed(own[equal:])}; simulated {_listed(others[equal:])}"


def _lines(replacements: Iterable[BundleReplacement]) -> list[str]:
    return [
        f"{line.replaced} of {line.nodes} by {line.delegate}, {line.partitions} partitions, subgraph {line.subgraph}"
        for line in replacements
    ]


def _listed(lines: Sequence[str]) -> str:
    return "; ".join(lines) or "none"
