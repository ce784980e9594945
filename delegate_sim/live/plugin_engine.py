"""Engine for a compiler plugin. LiteRT's own tool runs the plugin."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..delegates.base import Delegate
from ..delegates.decision import FileNode
from ..delegates.options import OptionValues
from ..delegates.traits import PluginTraits
from ..errors import DelegateSimError
from ..foundation import packages
from ..model.model import Model, Node, Subgraph
from ..model.precompiled import is_dispatch, precompiled
from ..model.reader import load
from ..runtime.interpreter import Run
from .engine import (
    BuiltPartition,
    Engine,
    Finished,
    LiveDecision,
    LiveNode,
    LivePartition,
    SecondStage,
    result_names,
    run_limited,
    with_distinct_names,
)

_TOOL = Path("tools", "apply_plugin_main")
_PREFIX = re.compile(r"^\w+: \[[^\]]*\] ")
_COMPARED = re.compile(r"^(Partition strategy|Partitioned subgraph|Partitioning yielded \d{1,9} NPU|Inlined|Found empty)")
"""Pattern of the lines about partitioning. All other lines depend on the host and are not compared."""
_YIELDED = re.compile(r"Partitioning yielded (\d{1,9}) new subgraphs")
_ERROR = re.compile(
    r"(?:ERROR: \[[^\]]{1,200}\] (?!ERROR: \[)|[\d. ]{1,40}ms \[ ERROR \] {1,9})(?P<text>\S.{0,1000})|"
    r"(?P<library>Cannot load library \"?(?P<path>[^\"]{1,500}).{0,1000})"
)
"""Matches the errors of a vendor's compiler."""
_RAISED_IN = re.compile(r"(?:: Error)?: Exception from \S{1,200}$")
_MOST_MESSAGES = 5
_UNLOADED = re.compile(
    r"(?:Could not load shared library [^:]{0,300}|Failed to load [^:]{0,300}(?:library|API)(?: from [^:]{0,300})?): (.*)|"
    r"(Fail to load .{0,300} library)"
)


class PluginEngine(Engine):
    """An engine that partitions a model with LiteRT's tool, and reads the tool's log lines and partitions."""

    def __init__(
        self, delegate: Delegate, traits: PluginTraits, runtime: packages.Runtime | None = None, sdks: Sequence[str] = ()
    ) -> None:
        self._runtime = runtime or packages.installed_runtime()
        super().__init__(delegate, _lacks(traits, self._runtime.folder))
        self._traits = traits
        self.searched = _library_folders(self._runtime, traits, sdks)
        """The folders in which libraries are searched before the folders of the system's loader."""

    @property
    def libraries(self) -> Mapping[str, str | None]:
        """The vendor's libraries that the plugin and its compiler open, with the paths of those in the searched folders."""
        return {name: _library_path(name, self.searched) for name in self._traits.opened}

    @property
    def software(self) -> str:
        """The release of the tool and the plugins."""
        return self._runtime.release

    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Run the tool in a separate process. For the second stage, run it again with the vendor's compiler."""
        content = self._content(model, options)
        finished, written = self._run_tool(content, options, "partition")
        printed = [_PREFIX.sub("", line) for line in finished.output.splitlines()]
        lines = tuple([line for line in printed if _COMPARED.match(line)])
        is_closed = self._traits.is_closed or (bool(self._traits.closed_line) and self._traits.closed_line in printed)
        if finished.status == 0:
            numbers = [int(match[1]) for match in map(_YIELDED.search, printed) if match]
            decision = replace(_partitioned(load(content), lines, written, numbers[-1] if numbers else 0), is_closed=is_closed)
            if to_end and decision.partitions:
                return replace(decision, second_stage=self._second_stage(content, options, decision.partitions))
            return decision
        is_crash = finished.status is not None and finished.status < 0
        lacks = "" if lines else _missing_library(printed, self._traits)
        is_decided = is_crash and bool(lines)
        return LiveDecision(True, finished.words, lines, None, lacks, is_closed, is_decided=is_decided, output=finished.output)

    def _second_stage(self, content: bytes, options: OptionValues, partitions: Sequence[LivePartition]) -> SecondStage:
        """Compile the partitions. The plugin compiles them in order, and stops at the first one that the compiler refuses."""
        start = time.monotonic()
        finished, written = self._run_tool(content, options, "apply")
        seconds = time.monotonic() - start
        counts = list(map(len, partitions))
        if finished.status == 0 and written is not None:
            sizes = precompiled(load(written)).code_sizes
            known = sizes if len(sizes) == len(counts) else [None] * len(counts)
            built = [BuiltPartition(nodes, bool(sizes), size) for nodes, size in zip(counts, known, strict=True)]
            return SecondStage(bool(sizes), tuple(built), seconds=seconds)
        printed = [_PREFIX.sub("", line) for line in finished.output.splitlines()]
        matches = [match for match in map(_ERROR.match, finished.output.splitlines()) if match is not None]
        texts = [_RAISED_IN.sub("", match["text"] or match["library"]) for match in matches]
        messages = [text for text in (*dict.fromkeys(texts), finished.words) if text][-_MOST_MESSAGES:]
        missing = next((match["path"] for match in matches if match["path"]), "")
        if missing and self._traits.compiler_needs:
            missing = f"{Path(missing).name} in {Path(missing).parent}. {self._traits.compiler_needs}"
        passed = sum(line.startswith(self._traits.compiled_line) for line in printed) if self._traits.compiled_line else None
        at_fault = 0 if len(counts) == 1 else passed
        built = [
            BuiltPartition(
                nodes,
                None if at_fault is None or number > at_fault else number < at_fault,
                message="; ".join(messages) if number == at_fault else "",
            )
            for number, nodes in enumerate(counts)
        ]
        others = () if at_fault is not None and at_fault < len(counts) else tuple(messages)
        return SecondStage(False, tuple(built), others, missing, seconds)

    def _content(self, model: Model, options: OptionValues) -> bytes:
        # Tensor names must not change if options select nodes by name.
        keeps_names = any(options.get(name) is not None for name in self._traits.texts)
        return bytes(model.content) if keeps_names else with_distinct_names(model)

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return the simulated log lines and partitions."""
        lines = tuple([line for line in run.log_lines if _COMPARED.match(line)])
        if run.outcome == "refused":
            return LiveDecision(True, "" if run.refusal is None else f"it fails: {run.refusal.text}", lines)
        groups = [
            tuple([LiveNode(model.subgraphs[subgraph].nodes[node].op, (subgraph, node)) for subgraph, node in group])
            for subgraph_run in run.subgraphs
            if subgraph_run.decision is not None and subgraph_run.decision.groups is not None
            for group in subgraph_run.decision.groups
        ]
        return LiveDecision(False, "", lines, tuple(groups))

    def _run_tool(self, model: bytes, options: OptionValues, task: str) -> tuple[Finished, bytes | None]:
        root = self._runtime.folder
        assert root is not None
        with tempfile.TemporaryDirectory() as folder:
            source, result = Path(folder, "model.tflite"), Path(folder, "partitions.tflite")
            source.write_bytes(model)
            command = [
                str(root / _TOOL),
                f"--cmd={task}",
                f"--model={source}",
                f"--o={result}",
                f"--soc_manufacturer={self._traits.manufacturer}",
                f"--libs={root / 'vendors' / self._traits.folder / 'compiler'}",
                *self._traits.arguments(options),
                *_texts(self._traits, options, Path(folder)),
            ]
            _link_library(self._traits.relative_library, self.searched, Path(folder))
            environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(self.searched)}
            finished = run_limited(command, environment, folder)
            return finished, result.read_bytes() if result.is_file() and result.stat().st_size else None


def _lacks(traits: PluginTraits, root: Path | None) -> str:
    if root is None or not (root / _TOOL).is_file():
        return "ai-edge-litert 2.1.5 or newer, with its plugins: pip install ai-edge-litert"
    if not (root / "vendors" / traits.folder / "compiler").is_dir():
        return f"a release of ai-edge-litert with the plugin of {traits.manufacturer}"
    return ""


def _missing_library(printed: Sequence[str], traits: PluginTraits) -> str:
    libraries = [match[1] for match in map(_UNLOADED.search, printed) if match]
    if not libraries:
        return ""
    numbered = re.search(traits.numbered_library, libraries[-1] or "") if traits.numbered_library else None
    needs = traits.needs if numbered is None else traits.numbered_needs.format(*numbered.groups())
    return f"{needs} ({libraries[-1].rstrip('.')})"


def _texts(traits: PluginTraits, options: OptionValues, folder: Path) -> Iterator[str]:
    for name, flag in traits.texts.items():
        if options.get(name) is not None:
            path = folder / name
            path.write_text(options[name].content or "", encoding="utf-8")
            yield f"--{flag}={path}"


def _library_folders(runtime: packages.Runtime, traits: PluginTraits, sdks: Sequence[str]) -> list[str]:
    library_path = os.environ.get("LD_LIBRARY_PATH")
    variable, below = traits.variable
    root = os.environ.get(variable, "")
    owners = [(runtime.package_folder(package), folder) for package, folder in traits.libraries]
    # A library in the current folder may come from a stranger, so relative and empty entries do not count.
    return [
        *([str(Path(root, below))] if os.path.isabs(root) else []),
        *[str(folder) for sdk in sdks for folder in _sdk_folders(Path(sdk).absolute(), traits)],
        *[entry for entry in (library_path or "").split(os.pathsep) if os.path.isabs(entry)],
        *[str(owner / folder) for owner, folder in owners if owner is not None],
        str(runtime.folder),
    ]


def _sdk_folders(sdk: Path, traits: PluginTraits) -> Iterator[Path]:
    for _, folder in traits.libraries:
        parts = Path(folder).parts
        yield from [path for path in (sdk.joinpath(*parts[start:]) for start in range(len(parts))) if path.is_dir()]
    yield sdk


def _library_path(name: str, folders: Iterable[str]) -> str | None:
    return next((str(path) for path in [Path(folder, name) for folder in folders] if path.is_file()), None)


def _link_library(relative: str, folders: Iterable[str], folder: Path) -> None:
    """Link a vendor's library to the path below the tool's folder at which newer plugins open it."""
    library = _library_path(Path(relative).name, folders) if relative else None
    if library is not None:
        link = folder / relative
        link.parent.mkdir(parents=True)
        link.symlink_to(Path(library).resolve())


def _partitioned(model: Model, lines: tuple[str, ...], written: bytes | None, number: int) -> LiveDecision:
    """Return the decision. The partitions are the last ``number`` subgraphs of the model ``written``.

    An ``odml.npu_call`` also has a partition, although the plugin does not select the nodes of this composite.
    """
    if written is None:
        return LiveDecision(False, "", lines)
    try:
        partitioned = load(written)
    except DelegateSimError as error:
        return LiveDecision(True, f"the partitions cannot be read ({error})", lines)
    names = result_names(model)
    partitions: list[LivePartition] = [
        tuple([_node_in_file(model, names, graph, node) for node in graph.nodes])
        for graph in partitioned.subgraphs[len(partitioned.subgraphs) - number :]
    ]
    return LiveDecision(False, "", lines, tuple(partitions), has_further=True)


def _node_in_file(model: Model, names: Mapping[str, FileNode], graph: Subgraph, node: Node) -> LiveNode:
    """Find a node of a partition in the model file, by the name of the node's first output.

    The last node of an inlined body can have the output name of another node, so the operators must also be the same. A call of
    compiled code matches any operator.
    """
    place = names.get(graph.tensors[node.outputs[0]].name) if node.outputs and node.outputs[0] >= 0 else None
    if place is None:
        return LiveNode(node.op)
    op = model.subgraphs[place[0]].nodes[place[1]].op
    return LiveNode(op, place) if op == node.op or is_dispatch(node) else LiveNode(node.op)
