"""Refusals: the reason why a stage in the life of a model does not take the model, or a part of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .errors import DelegateSimError


class Stage(str, Enum):
    """The stages in the life of a model that can refuse the model, in order."""

    READING = "load"
    """LiteRT's loader reads the model file for a compiler plugin."""
    SELECTING = "partition"
    """A compiler plugin selects nodes of the model file."""
    LOADING = "runtime-load"
    """The runtime loads the model."""
    PLANNING = "plan"
    """A runtime without delegates plans the memory of the model."""
    PREPARING = "prepare"
    """A CPU kernel is prepared."""
    ACCEPTING = "accept"
    """The delegate decides which nodes it takes."""
    BUILDING = "build"
    """A kernel of the delegate is created or prepared."""
    VALIDATING = "validate"
    """The code behind the delegate, such as Android's NNAPI runtime, checks the model that the delegate builds."""
    COMPILING = "compile"
    """The code behind the delegate compiles this model for the devices of a phone."""
    RUNNING = "invoke"
    """A CPU kernel computes."""
    COMPUTING = "numbers"
    """The delegate's kernels compute. A refusal of this stage says that they compute other numbers than the CPU."""

    @property
    def is_of_plugin(self) -> bool:
        """Whether the stage belongs to a compiler plugin. These stages come before the runtime loads the model."""
        return self in (Stage.READING, Stage.SELECTING)


class Effect(Enum):
    """The consequence of a refusal for the run."""

    UNDO = "undo"
    """The runtime restores the plan without the delegate. With CompiledModel, the model fails."""
    THROW = "throw"
    """An exception leaves the delegate. The runtime restores nothing and prints nothing."""
    ABORT = "abort"
    """An assertion of the delegate's library ends the process while the library builds the model."""
    CRASH = "crash"
    """The process ends, so nothing is restored."""
    FAIL_LATER = "fail-later"
    """The model fails after all delegates were applied, and no delegation is undone."""
    CRASH_LATER = "crash-later"
    """The process ends after all delegates were applied."""
    FAIL_AT_INVOKE = "fail-at-invoke"
    """Only ``Invoke`` fails."""
    WRONG_NUMBERS = "wrong"
    """The model runs, and its numbers differ from the numbers on the CPU for ordinary inputs."""
    PERHAPS_WRONG_NUMBERS = "may be wrong"
    """The model runs, and its numbers differ for some inputs, or perhaps in this release or on this backend."""

    @property
    def is_crash(self) -> bool:
        """Whether the process ends, now or later."""
        return self in (Effect.CRASH, Effect.CRASH_LATER)

    @property
    def is_later(self) -> bool:
        """Whether the model fails only after all delegates were applied."""
        return self in (Effect.FAIL_LATER, Effect.CRASH_LATER)

    @property
    def leaves_delegate(self) -> bool:
        """Whether the delegate does not return to the runtime, although it does not crash while it creates kernels."""
        return self in (Effect.THROW, Effect.ABORT)

    def postponed(self) -> Effect:
        """Return the same effect after all delegates were applied."""
        return Effect.CRASH_LATER if self.is_crash else Effect.FAIL_LATER


class NodeIndex(int):
    """The index of a node in the graph that a stage gets. Such a graph may be of a changed model."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a message: a template with a placeholder for each value."""

    template: str
    values: Mapping[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return self.template.format_map(self.values)


def node_place(index: int, op: str, template: str = "node {node} ({op})") -> Phrase:
    """Return the place of a node as a part of a message."""
    return Phrase(template, {"node": NodeIndex(index), "op": op})


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a stage does not take a model, a node or an operand.

    A ``Run`` has a refusal if the runtime did not apply the delegate (``refused``), or undid the delegation (``restored``). A
    run is also refused if the runtime cannot load or prepare the model. The model then does not run at all. With the outcomes
    ``delegated`` and ``none``, the refusal says why the model fails after the delegate was applied.
    """

    code: str
    template: str
    """The message. If there are ``values``, it has a placeholder for each value."""
    hint: str = ""
    subgraph: int = 0
    node: int | None = None
    """The refused node, or None if the refusal does not belong to a single node."""
    tensor: int | None = None
    cause: int | None = None
    """The tensor that makes ``tensor`` dynamic."""
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The values in the message, such as ``operand``, ``found`` and ``needed``."""
    stage: Stage = Stage.BUILDING
    """The stage that refuses. For a compiler plugin: ``load`` if LiteRT's loader refuses the file, or ``partition``."""
    effect: Effect = Effect.UNDO
    is_predicted: bool = False
    """Whether the refusal is predicted from the source code of another release."""
    call: str = ""
    """The function of the stage that refuses."""
    operation: str = ""
    """The operation that the call adds. Empty if the call adds no operation."""
    result: int = 0
    """The error code that the call returns."""
    log_lines: tuple[str, ...] = ()
    """The log lines about the refusal, without the line about the restored plan."""
    further: tuple[str, ...] = ()
    """Warnings about further refusals that follow after this refusal is removed."""
    below: Refusal | None = None
    """The refusal of a later stage that makes this stage fail."""

    @property
    def message(self) -> str:
        """The refusal as text."""
        return self.template.format_map(self.values) if self.values else self.template

    @property
    def found(self) -> Any:
        """The value that the stage refuses, or None."""
        return self.values.get("found")

    @property
    def needed(self) -> Any:
        """The value that the stage needs, or None."""
        return self.values.get("needed")

    @property
    def operand(self) -> Any:
        """The operand that the stage refuses, or None."""
        return self.values.get("operand")

    @property
    def behind(self) -> Refusal | None:
        """The call that a stage behind the delegate rejected, or None."""
        return self.below

    @property
    def error_line(self) -> str:
        """The first log line, or ""."""
        return self.log_lines[0] if self.log_lines else ""

    @property
    def is_at_invoke(self) -> bool:
        """Whether only ``Invoke`` fails, as behind a dynamic tensor, or if a CPU kernel does not compute a type."""
        return self.effect is Effect.FAIL_AT_INVOKE

    @property
    def is_of_node(self) -> bool:
        """Whether the refusal is about a node. If a later stage refuses the whole model, ``node`` is only the last node."""
        return self.node is not None and (self.below is None or self.below.node is not None)

    @property
    def text(self) -> str:
        """The message. It begins with a node if a stage behind the delegate rejected a call for this node."""
        if self.below is None or not self.is_of_node:
            return self.message
        place = f"{self.subgraph}:{self.node}" if self.subgraph else f"{self.node}"
        return f"node {place}: {self.message}"

    def within(self, before: str | Phrase, after: str = "") -> Refusal:
        """Return the refusal with text before and after the message."""
        template = self.template if self.values else _escaped(self.template)
        key = f"before_{len(self.values)}"
        return replace(self, template=f"{{{key}}}{template}{_escaped(after)}", values={**self.values, key: before})

    def in_file(self, origin: Callable[[int], int | None], op_of: Callable[[int], str] | None = None) -> Refusal:
        """Return a refusal of a changed model with the indices of nodes in the file.

        ``origin`` returns the index of a node in the file, or None for a node that the change added. If the refused node has
        another index in the file, the message names the node, and ``node`` is None. ``op_of`` returns the operator of a node of
        the file. If it is given, the message also has the file's operator of each node that the change gave another operator.
        """
        mapped = replace(self, values=_mapped(self.values, origin, op_of))
        if self.node is None or origin(self.node) == self.node:
            return mapped
        named = mapped.below is not None and mapped.is_of_node
        place = _shown(self.node, origin)
        return replace(mapped.within(f"node {place}: ") if named else mapped, node=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the refusal as plain data. Some keys are present only if they are set."""
        names = ("code", "message", "hint", "subgraph", "node", "tensor", "cause", "is_predicted")
        entry = {name: getattr(self, name) for name in names}
        if self.is_at_invoke:
            entry["is_at_invoke"] = True
        if self.stage.is_of_plugin:
            entry["stage"] = self.stage.value
        if self.below is not None:
            below = self.below
            entry.update(call=below.call, operation=below.operation)
            entry.update({name: str(getattr(below, name)) for name in ("operand", "found", "needed")})
            entry.update(error_line=below.error_line, further=list(self.further))
        return entry


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _shown(index: int, origin: Callable[[int], int | None]) -> NodeIndex | str:
    own = origin(index)
    return "(added)" if own is None else NodeIndex(own)


def _mapped(
    values: Mapping[str, Any], origin: Callable[[int], int | None], op_of: Callable[[int], str] | None
) -> Mapping[str, Any]:
    mapped = {key: _mapped_value(value, origin, op_of) for key, value in values.items()}
    node, op = mapped.get("node"), mapped.get("op")
    if op_of is not None and op is not None and isinstance(node, NodeIndex) and op_of(node) != op:
        mapped["op"] = f"{op_of(node)}, converted to {op}"
    return mapped


def _mapped_value(value: Any, origin: Callable[[int], int | None], op_of: Callable[[int], str] | None) -> Any:
    if isinstance(value, Phrase):
        return replace(value, values=_mapped(value.values, origin, op_of))
    return _shown(value, origin) if isinstance(value, NodeIndex) else value


class Refused(DelegateSimError):
    """Raised if a stage refuses."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal

    def __str__(self) -> str:
        call = self.refusal.call
        return f"{call} refuses: {self.refusal.message}" if call else self.refusal.message
