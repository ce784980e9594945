"""Engine for Arm's compiler Vela."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...delegates.base import Delegate
from ...delegates.options import OptionValues
from ...delegates.traits import VelaTraits
from ...errors import DelegateSimError
from ...foundation.files import alone_with, cache_folder, read_whole, write_whole
from ...foundation.printable import install_command, printable, shortened
from ...model.model import Model
from ...model.reader import load
from ...runtime.interpreter import Run
from ...version import __version__
from ..engine import BuiltPartition, Engine, LiveDecision, LivePlacement, SecondStage
from ..naming import with_numbered_names
from ..process import Finished, run_module
from .results import database, figures, kernels, placements, printed_reasons, unknown_placements, with_own_names

_FORMAT = 3


def find_decision(key: Sequence[str]) -> LiveDecision | None:
    """Return the cached decision of a key, or None if there is no readable cached decision."""
    try:
        entry = json.loads(read_whole(_path(key)))
        if entry["key"] != _full(key):
            return None
        return LiveDecision(
            bool(entry["failed"]),
            str(entry["end"]),
            tuple(map(str, entry["lines"])),
            placements=tuple([_placement(*fields) for fields in entry["nodes"]]),
            figures=dict(entry["figures"]),
            second_stage=_second_stage(entry["built"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_decision(key: Sequence[str], decision: LiveDecision) -> None:
    """Store a decision. If the folder is not writable, do nothing."""
    nodes = [[*node.to_dict().values()] for node in decision.placements or ()]
    entry = {
        "key": _full(key),
        "failed": decision.has_failed,
        "end": decision.end,
        "lines": decision.lines,
        "nodes": nodes,
        "figures": dict(decision.figures),
        "built": [(part.nodes, part.size) for part in decision.second_stage.partitions] if decision.second_stage else [],
    }
    path = _path(key)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with alone_with(path):
            write_whole(path, json.dumps(entry), is_updated=True)
    except OSError:
        return


def _placement(subgraph: int, node: int, op: str, place: str, reason: str, is_listed: bool, kernel: int | None) -> LivePlacement:
    number = None if kernel is None else int(kernel)
    return LivePlacement(int(subgraph), int(node), str(op), str(place), str(reason), bool(is_listed), number)


def _full(key: Sequence[str]) -> list[str]:
    return [str(_FORMAT), __version__, *key]


def _path(key: Sequence[str]) -> str:
    name = hashlib.sha256(json.dumps(_full(key)).encode()).hexdigest()
    return os.path.join(cache_folder("vela"), f"{name}.json")


_SINCE = (5, 2)
_ERRORS = ("RuntimeError: ", "Error: ", "error: ")


class VelaEngine(Engine):
    """An engine that compiles a file, and reads the place of every node from Vela's debug database.

    Tensors get numbered names, so that Vela's messages identify nodes. Decisions are cached.
    """

    def __init__(self, delegate: Delegate, traits: VelaTraits) -> None:
        super().__init__(delegate, _lacks(traits.version))
        self._traits = traits

    @property
    def software(self) -> str:
        """The version of Vela, such as ``vela-5.2.0``."""
        return self._traits.software

    @property
    def installation(self) -> str:
        """The version of Vela. One installation of Vela compiles for every configuration."""
        return self.software

    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Run Vela in a separate process, or return the cached decision. Vela always compiles."""
        arguments = list(self._traits.arguments(options))
        key = (model.sha256, self.software, *arguments)
        cached = find_decision(key)
        if cached is not None:
            return cached
        decision, is_final = self._run(model, arguments)
        if is_final:
            keep_decision(key, decision)
        return decision

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Raise NotImplementedError. This method is never called, because Vela is not simulated."""
        raise NotImplementedError

    def _run(self, model: Model, arguments: list[str]) -> tuple[LiveDecision, bool]:
        """Return Vela's decision, and whether the decision can be cached.

        A decision cannot be cached if Vela crashed or reached a limit, because the next run may end differently.
        """
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "model.tflite")
            source.write_bytes(with_numbered_names(model))
            options = [source.name, "--enable-debug-db", "--output-dir=out", *arguments]
            finished = run_module("ethosu.vela", options, {**os.environ, "PYTHONUNBUFFERED": "1"}, folder)
            written = {path.name: path for path in sorted(Path(folder, "out").glob("model_*"))}
            reasons = printed_reasons(model, finished.output)
            compiled, tables = written.get("model_vela.tflite"), written.get("model_debug.xml")
            if finished.words or compiled is None or tables is None:
                end = _failure(model, finished)
                decision = LiveDecision(True, end, reasons.others, placements=unknown_placements(model, reasons))
                return decision, finished.status is not None and finished.status > 0
            try:
                result = load(compiled.read_bytes())
            except DelegateSimError as error:
                return LiveDecision(True, f"the compiled file cannot be read ({error})", reasons.others), False
            summary = next((path for name, path in written.items() if name.startswith("model_summary_")), None)
            placed = placements(model, database(tables.read_text(encoding="utf-8", errors="replace")), result, reasons)
            stated = {} if summary is None else figures(summary.read_text(encoding="utf-8", errors="replace"), result)
            stage = _second_stage(kernels(placed, result))
        return LiveDecision(False, "", reasons.others, placements=placed, figures=stated, second_stage=stage), True


def _second_stage(built: Iterable[tuple[int, int | None]]) -> SecondStage | None:
    partitions = tuple([BuiltPartition(int(nodes), True, None if size is None else int(size)) for nodes, size in built])
    return SecondStage(True, partitions) if partitions else None


def _lacks(version: str) -> str:
    numbers = tuple([int(part) for part in version.split(".")[:2] if part.isdecimal()])
    return "" if version and numbers >= _SINCE else f"ethos-u-vela 5.2 or newer: {install_command('vela')}"


def _failure(model: Model, finished: Finished) -> str:
    if finished.status is None or finished.status < 0:
        return finished.words
    for beginning in _ERRORS:
        _, marker, text = finished.output.rpartition(beginning)
        if marker and text.strip():
            lines = [line.strip() for line in with_own_names(model, text).splitlines() if line.strip()]
            return shortened(f"it refuses the file: {printable('; '.join(lines))}")
    return finished.words or "it wrote nothing"
