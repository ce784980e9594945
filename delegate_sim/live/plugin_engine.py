"""A compiler plugin, run by LiteRT's own tool."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..delegates.base import Delegate, OptionValues
from ..delegates.live_traits import PluginTraits
from ..errors import DelegateSimError
from ..model.model import Model
from ..model.precompiled import is_dispatch
from ..model.reader import load
from ..runtime.interpreter import Run
from . import packages
from .decision import LiveDecision, LiveNode, LivePartition
from .engine import Engine
from .process import Finished, run_limited

_TOOL = Path("tools", "apply_plugin_main")
_PREFIX = re.compile(r"^\w+: \[[^\]]*\] ")
_COMPARED = re.compile(r"^(Partition strategy|Partitioned subgraph|Partitioning yielded \d+ NPU|Inlined|Found empty)")
"""Lines of partitioning itself; the others depend on the host."""


class PluginEngine(Engine):
    """Has the tool partition a model, and reads its lines and the partitions that it writes."""

    def __init__(self, delegate: Delegate, traits: PluginTraits) -> None:
        lacks = _lacks(traits)
        super().__init__(delegate, lacks, "" if lacks else traits.needs)
        self._traits = traits

    @property
    def software(self) -> str:
        """The release of the tool and the plugins."""
        return packages.runtime_release()

    def decide(self, model: Model, options: OptionValues) -> LiveDecision:
        """Run the tool in a process of its own."""
        finished, written = self._run_tool(bytes(model.content), options)
        lines = tuple(
            [line for line in (_PREFIX.sub("", each) for each in finished.output.splitlines()) if _COMPARED.match(line)]
        )
        if finished.status == 0:
            return _partitioned(lines, written)
        is_crash = finished.status is not None and finished.status < 0
        lacks = self.needs if self.needs and not lines else ""
        return LiveDecision(True, finished.words, lines, lacks=lacks, is_decided=is_crash and bool(lines))

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return the simulated lines and groups."""
        lines = tuple([line for line in run.log_lines if _COMPARED.match(line)])
        if run.outcome == "refused":
            return LiveDecision(True, "" if run.refusal is None else f"it fails: {run.refusal.text}", lines)
        groups = [
            tuple([LiveNode(model.subgraphs[subgraph].nodes[node].op) for subgraph, node in group])
            for each in run.subgraphs
            if each.decision is not None and each.decision.groups is not None
            for group in each.decision.groups
        ]
        return LiveDecision(False, "", lines, tuple(groups))

    def _run_tool(self, model: bytes, options: OptionValues) -> tuple[Finished, bytes | None]:
        """Return how the tool ended, and the partitions as a model, if it wrote them."""
        root = packages.package_folder(packages.RUNTIME)
        assert root is not None
        with tempfile.TemporaryDirectory() as folder:
            source, result = Path(folder, "model.tflite"), Path(folder, "partitions.tflite")
            source.write_bytes(model)
            command = [
                str(root / _TOOL),
                "--cmd=partition",
                f"--model={source}",
                f"--o={result}",
                f"--soc_manufacturer={self._traits.manufacturer}",
                f"--libs={root / 'vendors' / self._traits.folder / 'compiler'}",
                *self._traits.arguments(options),
            ]
            finished = run_limited(command, _environment(root, self._traits), folder)
            return finished, result.read_bytes() if result.is_file() and result.stat().st_size else None


def _lacks(traits: PluginTraits) -> str:
    root = packages.package_folder(packages.RUNTIME)
    if root is None or not (root / _TOOL).is_file():
        return "ai-edge-litert 2.1.5 or newer, with its plugins: pip install ai-edge-litert"
    if not (root / "vendors" / traits.folder / "compiler").is_dir():
        return f"a release of ai-edge-litert that has the plugin of {traits.manufacturer}"
    if traits.package and packages.package_folder(traits.package) is None:
        return f"the package {traits.package}: pip install {traits.package}"
    return ""


def _environment(root: Path, traits: PluginTraits) -> Mapping[str, str]:
    """Return the environment with the folders where libraries are looked for."""
    folders = [str(root)]
    own = packages.package_folder(traits.package) if traits.package else None
    if own is not None:
        folders.insert(0, str(own / traits.libraries))
    given = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join([*folders, *([given] if given else [])])}


def _partitioned(lines: tuple[str, ...], written: bytes | None) -> LiveDecision:
    """Read the partitions that the tool wrote, without the model itself; ``odml.npu_call`` has one that is no group."""
    if written is None:
        return LiveDecision(False, "", lines)
    try:
        found = load(written)
    except DelegateSimError as error:
        return LiveDecision(True, f"the partitions cannot be read ({error})", lines)
    partitions: list[LivePartition] = [
        tuple([LiveNode(node.op) for node in graph.nodes]) for graph in found.subgraphs if not any(map(is_dispatch, graph.nodes))
    ]
    return LiveDecision(False, "", lines, tuple(partitions), has_further=True)
