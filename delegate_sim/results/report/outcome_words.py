"""Words for the results of delegates and of compiler plugins.

Nodes that a delegate or a plugin takes are called delegated. The vendor's compiler, which runs after a plugin, is not
simulated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ...delegates.base import Delegate
from ...delegates.registry import (
    CLOSED_PLUGIN_NAMES,
    COMPILING_NAMES,
    GRAPHICS_ACCELERATOR,
    LIVE_ONLY_NAMES,
    MICRO_NAME,
    PLUGIN_NAMES,
)
from ...refusal import Effect, Refusal
from ...runtime.target import Target, target_names


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """The words in reports about a delegate or compiler plugin.

    ``actor`` takes nodes, ``verb`` says what it does with them, and ``taken`` describes them. ``kernel`` is a group of taken
    nodes. ``left``, ``back`` and ``left_nodes`` describe all other nodes. ``if_not_applied`` says what follows if the delegate is
    not applied, ``refuses`` and ``rejects`` say that it is not applied or rejects the model, ``place`` names it in a table,
    ``has_parts`` says that a model is split into partitions, and ``note`` says that taken nodes do not run yet. ``part_verb`` is
    the verb for some of the nodes, and ``outcome`` the outcome in a cell of a table if nodes are taken. These and ``verb`` are
    not compared, because texts about several delegates compare the words for nodes.
    """

    actor: str
    taken: str
    left: str
    back: str
    left_nodes: str
    kernel: str
    verb: str = field(default="runs", compare=False)
    if_not_applied: str = field(default="everything runs on the CPU", compare=False)
    refuses: str = field(default="is not applied", compare=False)
    rejects: str = field(default="rejects the model", compare=False)
    place: str = field(default="delegate", compare=False)
    has_parts: bool = field(default=True, compare=False)
    note: str = field(default="", compare=False)
    part_verb: str = field(default="", compare=False)
    outcome: str = field(default="delegated", compare=False)

    @property
    def accepted(self) -> str:
        """The description of taken nodes in numbers: ``delegated`` for every delegate."""
        return "delegated" if self.has_parts else self.taken

    @property
    def kernels(self) -> str:
        """The plural of ``kernel``."""
        return re.sub("kernel|partition|graph", lambda noun: f"{noun[0]}s", self.kernel)

    @property
    def noun(self) -> str:
        """``kernel`` in one word."""
        return self.kernel.removeprefix("delegate ").removesuffix(" to compile")

    def short_kernels(self, number: int) -> str:
        """Return a number of kernels with the noun, but without the word "delegate"."""
        return f"{number:,} {(self.kernel if number == 1 else self.kernels).removeprefix('delegate ')}"

    @property
    def other_place(self) -> str:
        """The place of nodes that are not delegated in an exported graph: the CPU, or no place in a runtime without delegates."""
        return "CPU" if self.has_parts else self.left

    @property
    def elsewhere(self) -> str:
        """The place of nodes that are not delegated, in the form for a legend or a table."""
        return self.left.removeprefix("on ")


DELEGATED = OutcomeWords("delegate", "on the delegate", "on the CPU", "to the CPU", "CPU nodes", "delegate kernel")
_MODELS_TOLD = 3
NOT_COMPILED = (
    "Selected, but not compiled: a compiler plugin only selects nodes for the NPU. Only the vendor's compiler and the device can "
    "show whether these nodes can be compiled and run."
)
_PLUGIN = OutcomeWords(
    *("plugin", "selected", "off the NPU", "from the NPU", "nodes off the NPU", "partition to compile", "takes"),
    refuses=DELEGATED.rejects,
    place="npu",
    note=NOT_COMPILED,
)
_RUNTIME = OutcomeWords(
    *("runtime", "accepted", "unsupported", "from the runtime", "refused nodes", "graph"),
    if_not_applied="the model does not run",
    place="microcontroller",
    has_parts=False,
    part_verb="may fail while it runs the model: it takes",
    outcome="runs",
)
_NO_COMPILATION = "does not compile the model"
_WORDS = {
    **dict.fromkeys(LIVE_ONLY_NAMES, replace(DELEGATED, refuses=_NO_COMPILATION, rejects=_NO_COMPILATION)),
    **dict.fromkeys(COMPILING_NAMES, replace(DELEGATED, verb="takes")),
    **dict.fromkeys(PLUGIN_NAMES, _PLUGIN),
    MICRO_NAME: _RUNTIME,
    **dict.fromkeys(CLOSED_PLUGIN_NAMES, replace(_PLUGIN, refuses=_NO_COMPILATION, rejects=_NO_COMPILATION)),
    GRAPHICS_ACCELERATOR: replace(DELEGATED, if_not_applied="CompiledModel is not created"),
}


def words_of(delegate: str) -> OutcomeWords:
    """Return the words for the delegate with the given name."""
    return _WORDS.get(delegate, DELEGATED)


def kernels_title(delegates: Iterable[str]) -> str:
    """Return the title of a column with numbers of kernels."""
    return "to compile" if all(words_of(name) == _PLUGIN for name in delegates) else "kernels"


class DelegateResult(Protocol):
    """The result of a delegate: a run, or only the measures of a run."""

    @property
    def target(self) -> Target:
        """The target."""

    @property
    def delegate(self) -> Delegate:
        """The delegate."""

    @property
    def takes_nodes(self) -> bool:
        """Whether the delegate takes nodes and no later step fails."""

    @property
    def awaits_board(self) -> bool:
        """Whether the delegate takes nodes that only the board compiles."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings about the result."""


def not_built(delegate: Delegate) -> str:
    """Return the note on the nodes that a delegate compiles on the device."""
    return (
        f"Taken, but not compiled: the delegate compiles these nodes on the device, {delegate.compiled_on_device}. Only the "
        "device shows whether they can be compiled, how fast they run, and how their numbers differ from the CPU's."
    )


def if_not_applied(delegate: str, refusal: Refusal | None) -> str:
    """Return what follows if a delegate is not applied, or does not return to the runtime."""
    if refusal is None or not refusal.effect.leaves_delegate:
        return words_of(delegate).if_not_applied
    return "the process ends" if refusal.effect is Effect.ABORT else "the program ends unless it catches the exception"


def plugin_notes(
    results: Sequence[DelegateResult], *, only_plugins: bool = False, models: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Yield notes on the results: that nothing is compiled yet, and the warnings.

    With ``only_plugins``, the warnings of other delegates are left out. If there are results of several delegates, each warning
    names its delegates. ``models`` has the names of the models of the results, keyed by ``id``, if there are several models.
    """
    plugins = [result for result in results if words_of(result.delegate.name).note]
    if any(result.takes_nodes for result in plugins):
        yield NOT_COMPILED
    waiting: dict[str, dict[str, None]] = {}
    for own in results:
        if own.awaits_board:
            waiting.setdefault(not_built(own.delegate), {})[own.delegate.name] = None
    is_named = len({own.delegate.name for own in results}) > 1
    for note, names_waiting in waiting.items():
        yield f"{', '.join(names_waiting)}: {note}" if is_named else note
    is_single = models is None and len({result.delegate.name for result in results}) == 1
    names_of = dict(zip(map(id, results), target_names([result.target for result in results]), strict=True))
    sharing = Counter([result.delegate.name for result in results])
    givers: dict[str, list[DelegateResult]] = {}
    for result in plugins if only_plugins else results:
        for text in result.warnings:
            givers.setdefault(text, []).append(result)
    warned: dict[str, list[str]] = {}
    for text, giving in givers.items():
        counts = Counter([result.delegate.name for result in giving])
        for result in giving:
            delegate = result.delegate.name
            label = delegate if models is not None or counts[delegate] == sharing[delegate] else names_of[id(result)]
            warned.setdefault(text, []).append(label if models is None else f"{models[id(result)]} on {label}")
    for text, labels in warned.items():
        names = [*dict.fromkeys(labels)]
        more = f" and {len(names) - _MODELS_TOLD} more" if models is not None and len(names) > _MODELS_TOLD else ""
        shown = names[:_MODELS_TOLD] if more else names
        is_of_all = is_single and names == [results[0].delegate.name]
        yield f"{'Warning' if is_of_all else ', '.join(shown) + more}: {text}"


def outcome_notes(result: DelegateResult) -> tuple[str, ...]:
    """Return the notes on a result: a note if the nodes are only selected, and the warnings."""
    note = words_of(result.delegate.name).note if result.takes_nodes else ""
    note = not_built(result.delegate) if result.awaits_board else note
    return (*([note] if note else []), *result.warnings)
