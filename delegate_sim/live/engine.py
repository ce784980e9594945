"""The interface of an engine, a delegate's real code on this host, and the process in which the code runs.

The process has limits on time and memory. A crash is a result, not an exception.

Some tools rewrite the model file. To identify nodes afterwards, node outputs get unique names, which are appended to the bytes of
the model file. The new names change verdicts only if options select nodes by name.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..bundles.ranged import pieces
from ..delegates.base import Delegate
from ..delegates.decision import FileNode
from ..delegates.options import OptionValues
from ..foundation.columns import INTEGER, LIST, NUMBER, YES_OR_NO, Column, Declared, attributes
from ..foundation.limits import how_to_raise, raised
from ..foundation.processes import python_module, run, signal_name
from ..model.model import Model
from ..model.options import FileTable
from ..runtime.interpreter import Run

SECONDS = 120
MEMORY = 16 << 30
"""Limit on the address space, in bytes. Above the limit, a process prints an error or crashes."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a process. ``status`` is the exit code, a negative signal number, or None after a timeout."""

    status: int | None
    output: str
    seconds: int | None = None
    """The time limit in seconds, or None for ``SECONDS``."""

    @property
    def words(self) -> str:
        """Description of the failure, or "" if the process succeeded."""
        if self.status is None:
            return f"it was stopped after {raised(self.seconds or SECONDS):,} seconds{how_to_raise()}"
        if self.status < 0:
            return f"it crashed ({signal_name(-self.status)})"
        return "" if self.status == 0 else f"it failed with status {self.status}"


def run_module(name: str, arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> Finished:
    """Run a module as a process of this Python in a folder, and wait until the process ends."""
    return run_limited(python_module(name, *arguments), environment, folder)


def run_limited(command: Sequence[str], environment: Mapping[str, str], folder: str, seconds: int | None = None) -> Finished:
    """Run a command in a folder, and wait until the process ends. The default of ``seconds`` is ``SECONDS``."""
    try:
        process = run(command, environment, seconds=raised(seconds or SECONDS), folder=folder, prepare=_limit_memory)
    except subprocess.TimeoutExpired as expired:
        return Finished(None, (expired.output or b"").decode("utf-8", "replace"), seconds)
    except OSError as error:
        return Finished(127, str(error), seconds)
    return Finished(process.returncode, process.stdout.decode("utf-8", "replace"), seconds)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # the process then runs without this limit
        return

    most = min(raised(MEMORY), sys.maxsize)
    limits = [limit for limit in (most, *resource.getrlimit(resource.RLIMIT_AS)) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), min(limits)))  # a limit above the hard limit is an error


_ALIGNMENT = 4
NUMBERED_NAME = re.compile(r"@(\d{1,9}):(\d{1,9})@")


def result_names(model: Model) -> Mapping[str, FileNode]:
    """Return the nodes, keyed by the name of their first output.

    A node is omitted if the name is empty, or if another tensor has the name.
    """
    counts = Counter([tensor.name for graph in model.subgraphs for tensor in graph.tensors])
    nodes = {
        graph.tensors[node.outputs[0]].name: (graph.index, node.index)
        for graph in model.subgraphs
        for node in graph.nodes
        if node.outputs and node.outputs[0] >= 0
    }
    return {name: place for name, place in nodes.items() if name and counts[name] == 1}


def with_distinct_names(model: Model) -> bytes:
    """Return the bytes of the model file with a unique name for the first output of every node.

    Outputs without a name field do not change.
    """
    places = _places_without_name(model)
    used_names = {tensor.name for graph in model.subgraphs for tensor in graph.tensors}
    names = {}
    for subgraph, tensor in places:
        name = f"{model.subgraphs[subgraph].tensors[tensor].name}/{subgraph}:{tensor}"
        while name in used_names:
            name += "'"
        used_names.add(name)
        names[subgraph, tensor] = name
    return _renamed(model, names)


def with_numbered_names(model: Model) -> bytes:
    """Return the bytes of the model file, with the name from ``numbered_name`` for every tensor.

    Tensors without a name field do not change.
    """
    places = [(graph.index, tensor) for graph in model.subgraphs for tensor in range(len(graph.tensors))]
    return _renamed(model, {place: numbered_name(*place) for place in places})


def numbered_name(subgraph: int, tensor: int) -> str:
    """Return the name that ``with_numbered_names`` gives to a tensor. ``NUMBERED_NAME`` is the pattern of these names."""
    return f"@{subgraph}:{tensor}@"


def _renamed(model: Model, names: Mapping[tuple[int, int], str]) -> bytes:
    content = bytearray()
    for piece in pieces(model.content):
        content += piece
    if not names:
        return bytes(content)
    tables = [subgraph.children("tensors") for subgraph in FileTable.root(model.content).children("subgraphs")]
    for (subgraph, tensor), name in names.items():
        where = tables[subgraph][tensor].place("name")
        if not where:
            continue
        content += bytes(-len(content) % _ALIGNMENT)
        struct.pack_into("<I", content, where, len(content) - where)
        text = name.encode("utf-8", "replace")
        content += struct.pack("<I", len(text)) + text + b"\0"
    return bytes(content)


def _places_without_name(model: Model) -> list[tuple[int, int]]:
    known = set(result_names(model).values())
    return [
        (graph.index, node.outputs[0])
        for graph in model.subgraphs
        for node in graph.nodes
        if node.outputs and node.outputs[0] >= 0 and (graph.index, node.index) not in known
    ]


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A delegated node: its operator and its place in the model file. The place is None if it is not known."""

    op: str
    place: FileNode | None = None

    @property
    def words(self) -> str:
        """The description of the node in messages."""
        if self.place is None:
            return self.op
        subgraph, node = self.place
        return f"node {node} {self.op}" if subgraph == 0 else f"subgraph {subgraph} node {node} {self.op}"


LivePartition = tuple[LiveNode, ...]

NPU, CPU, GONE, UNKNOWN = "npu", "cpu", "gone", "unknown"
"""Places of nodes: on the NPU, on the CPU, removed by the compiler, or not known."""


@dataclass(frozen=True, slots=True)
class LivePlacement(Declared):
    """The place of a node after compilation."""

    columns = (
        *(*attributes("subgraph", "node", type=INTEGER), *attributes("op", "place", "reason")),
        *(Column("listed", YES_OR_NO, source="is_listed"), Column("kernel", INTEGER)),
    )

    subgraph: int
    node: int
    op: str
    place: str
    reason: str = ""
    """The first failed check of the node, as the compiler printed it, or "" if it printed no check."""
    is_listed: bool = True
    """Whether the compiler's database lists the node. If not, the node's place is derived from the compiled file."""
    kernel: int | None = None
    """The number of the compiled file's NPU operator that runs the node; None if no commands of the node are known."""


_MEMORIES = {
    "sram_bytes": "SRAM",
    "dram_bytes": "DRAM",
    "on_chip_flash_bytes": "on-chip flash",
    "off_chip_flash_bytes": "off-chip flash",
}


def figures_text(figures: Mapping[str, int | float | str]) -> str:
    """Return a compiler's own estimates for the compiled file as text; empty if there are none."""
    if not figures:
        return ""
    memories = [f"{title} {figures[key]:,} bytes, " for key, title in _MEMORIES.items() if figures[key]]
    return (
        f"{''.join(memories)}{figures['npu_cycles']:,} NPU cycles, {figures['total_cycles']:,} cycles in all: the "
        f"compiler's estimates for {figures['system_config']}, {figures['memory_mode']}"
    )


def taken_text(taken: Mapping[str, tuple[int, int]]) -> str:
    """Return the numbers of nodes and delegate kernels of each accelerator as text."""
    texts = [f"{name} {nodes:,} nodes (delegate kernels: {kernels:,})" for name, (nodes, kernels) in taken.items()]
    return ", ".join(texts) or "no nodes"


@dataclass(frozen=True, slots=True)
class BuiltPartition(Declared):
    """A partition after the second stage. Values that the code does not tell are None."""

    columns = (
        *(Column("nodes", INTEGER), Column("built", YES_OR_NO, source="is_built"), Column("size", INTEGER), Column("message")),
    )

    nodes: int | None
    is_built: bool | None
    """Whether the compiler or the runtime built the partition."""
    size: int | None = None
    """The size of the partition's code, in bytes."""
    message: str = ""
    """The errors about the partition. Empty if there are none."""


@dataclass(frozen=True, slots=True)
class SecondStage(Declared):
    """The result for the selected nodes: a compiler compiled them, or a runtime built their kernels and ran the model.

    ``messages`` are the errors about no single partition, and how the process ended. Inputs of a run are zeros.
    """

    columns = (
        *(Column("built", YES_OR_NO, source="is_built"), Column("partitions", LIST, parts=BuiltPartition.columns)),
        *(Column("messages", LIST), Column("lacks")),
        *[Column(key, NUMBER, digits=4) for key in ("seconds", "run_seconds")],
        Column("run_failure"),
    )

    is_built: bool
    partitions: tuple[BuiltPartition, ...]
    messages: tuple[str, ...] = ()
    lacks: str = ""
    """The library that the compiler does not find, or "" if it finds all."""
    seconds: float | None = None
    """The time that the compiler or the runtime took."""
    run_seconds: float | None = None
    """The time of one run on this host. None if the code cannot run here, or if the run failed."""
    run_failure: str = ""
    """Description of a failed run on this host. Empty if the model ran, or if the code cannot run here."""

    @property
    def has_failed(self) -> bool:
        """True if the code refused the partitions, or if the run failed. A missing library is no failure."""
        return not self.lacks and (not self.is_built or bool(self.run_failure))

    @property
    def errors(self) -> tuple[str, ...]:
        """All errors, without repetitions."""
        own = [partition.message for partition in self.partitions if partition.message]
        return tuple(dict.fromkeys([*own, *self.messages, *([self.run_failure] if self.run_failure else [])]))


@dataclass(frozen=True, slots=True)
class LiveDecision:
    """The decision of a delegate's real code, or of the simulation.

    ``lines`` has the log lines to compare. ``partitions`` is None if the partitions are not known, for example after a crash.
    """

    has_failed: bool
    end: str = ""
    """Description of a failure or crash, or "" if there was no failure."""
    lines: tuple[str, ...] = ()
    partitions: tuple[LivePartition, ...] | None = None
    lacks: str = ""
    """Requirements of the code that are missing on this host, or "" if nothing is missing."""
    is_closed: bool = False
    """True if closed-source code made the decision. The decision is then not compared with the simulation."""
    placements: tuple[LivePlacement, ...] | None = None
    """The place of every node, or None if the code does not report places."""
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    """Figures about the compiled model by name, such as memory and cycles."""
    has_further: bool = False
    """True if ``partitions`` may include nodes that the delegate did not select."""
    is_decided: bool = False
    """True if the decision is valid although a later step failed."""
    output: str = ""
    """The output of a program that failed. Empty if ``end`` has the message."""
    taken: Mapping[str, tuple[int, int]] | None = None
    """For each accelerator, such as ``gpu``, the numbers of delegated nodes and delegate kernels; None if they are not known."""
    second_stage: SecondStage | None = None
    """The result of compilation, or of building and running; None if this was not tried."""


class Engine(ABC):
    """Interface to a delegate's real code on this host.

    Only ``decide`` imports or runs the code. ``lacks`` names the requirements to install, and is empty if the engine can run.
    """

    def __init__(self, delegate: Delegate, lacks: str = "") -> None:
        self.delegate = delegate
        self.lacks = lacks

    @property
    def is_ready(self) -> bool:
        """True if no missing requirement is known."""
        return not self.lacks

    @property
    def is_simulated(self) -> bool:
        """Whether the code's decisions can also be simulated."""
        return not self.delegate.is_live_only

    @property
    def installation(self) -> str:
        """The name of the installed program. If one engine with this name runs on this host, all engines with this name run."""
        return self.delegate.name

    @property
    def fixed_options(self) -> OptionValues:
        """Values that some options must have on this host."""
        return {}

    @property
    @abstractmethod
    def software(self) -> str:
        """The name and version of the real code, such as ``litert-2.3.0``."""

    @abstractmethod
    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Run the code on a model in a separate process. Raise OptionError for options that the code does not accept.

        With ``to_end``, the second stage follows if nodes are selected.
        """

    @abstractmethod
    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return the decision of a simulated run in the engine's format."""


class NoEngine(Engine):
    """Engine of a delegate that cannot run on any host."""

    @property
    def software(self) -> str:
        """Empty, because there is no code."""
        return ""

    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Raise NotImplementedError. This method is never called."""
        raise NotImplementedError

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Raise NotImplementedError. This method is never called."""
        raise NotImplementedError
