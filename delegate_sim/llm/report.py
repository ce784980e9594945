"""The result of the simulated engine for a bundle, as plain data, and the meanings of errors that the engine prints.

A meaning is found from the log alone, without the bundle.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..foundation.columns import INTEGER, LIST, OBJECT, Column, Declared, attributes, head, plain

_MEANINGS: Mapping[str, str] = json.loads(pkgutil.get_data(__package__, "error_meanings.json") or b"")
"""Meanings of errors, by words in the error. The first words that are in the error are used."""


def engine_meaning(line: str) -> str:
    """Return the meaning of an error of the engine; empty if it is unknown."""
    return next((meaning for words, meaning in _MEANINGS.items() if words in line), "")


STARTS, REFUSED, FAILS_LATER, CRASH = "starts", "refused", "starts-then-fails", "crash"
ENGINE, SESSION, PREFILL, DECODE, DONE = "engine", "session", "prefill", "decode", "done"
"""The stages of a run: create the engine, create a session, read the prompt, generate tokens, and destroy the engine."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The check that stops the engine.

    ``section`` is the model type or data type of the section that fails the check. ``signature`` and ``node`` are the place in
    the section's model. ``error`` is the engine's error message without source positions.
    """

    check: str
    error: str
    stage: str = ENGINE
    section: str | None = None
    signature: str | None = None
    subgraph: int | None = None
    node: int | None = None
    operator: str | None = None
    reasons: tuple[str, ...] = ()
    hint: str = ""
    is_crash: bool = False
    """True if the engine crashes instead of returning an error."""


class Stopped(Exception):
    """Raised if a bundle does not pass a check."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.error)
        self.stop = stop


@dataclass(frozen=True, slots=True)
class BundleReplacement(Declared):
    """The nodes that a delegate replaces in one subgraph of a section's model, as one line of the runtime's log reports them."""

    columns = (
        *attributes("section", "delegate"),
        *(*attributes("replaced", "nodes", "partitions", "subgraph", type=INTEGER), Column("name")),
    )

    section: str
    delegate: str
    replaced: int
    nodes: int
    partitions: int
    subgraph: int
    name: str


@dataclass(frozen=True, slots=True)
class BackendReport(Declared):
    """The result of the simulated engine for a bundle on one backend."""

    columns = (
        Column("bundle", source="path"),
        Column("backend", source=lambda report: report.backend.lower()),
        *(Column("options", OBJECT), *attributes("outcome", "stage", "error"), Column("stop", OBJECT)),
        *(Column("replacements", LIST, parts=BundleReplacement.columns), *attributes("log_lines", "notes", type=LIST)),
    )

    path: str
    backend: str
    options: Mapping[str, Any]
    stop: Stop | None
    replacements: tuple[BundleReplacement, ...]
    log_lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """``starts``, ``refused``, ``starts-then-fails`` or ``crash``."""
        if self.stop is None:
            return STARTS
        if self.stop.is_crash:
            return CRASH
        return REFUSED if self.stop.stage == ENGINE else FAILS_LATER

    @property
    def stage(self) -> str | None:
        """The stage in which the engine stops; None if the engine does not stop."""
        return None if self.stop is None else self.stop.stage

    @property
    def error(self) -> str | None:
        """The engine's error message; None if the engine does not stop."""
        return None if self.stop is None else self.stop.error


def engine_document(path: str, reports: Sequence[BackendReport], live: Sequence[Declared] = ()) -> dict[str, Any]:
    """Return the simulated results on all backends as plain data. If the real engine was run, add its results."""
    return {**head("engine"), "bundle": path, "backends": plain(reports), **({"live": plain(live)} if live else {})}
