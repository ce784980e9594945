"""The result of a verification: the state and the differences of each signature, and the nodes at fault."""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, YES_OR_NO, Column, Declared, attributes
from ..inference.difference import TensorDifference
from ..runtime.target import Target
from .comparison import ErrorTolerance
from .conditions import KnownCondition
from .cuts import FAILED, RIGHT, WRONG

NOTHING_SHOWN, DIFFERENT = "shows-nothing", "differs"
STATES = (RIGHT, NOTHING_SHOWN, DIFFERENT, WRONG, FAILED)
"""The states of a comparison. ``differs``: outputs differ, but no single node is wrong, and no known condition explains it."""


@dataclass(frozen=True, slots=True)
class Culprit(Declared):
    """The first node that has right inputs and a wrong output, or that does not run."""

    columns = (
        *(*attributes("subgraph", "node", type=INTEGER), Column("op"), Column("first_node", INTEGER)),
        *(Column("is_narrow", YES_OR_NO), Column("outcome"), Column("difference", OBJECT)),
        *(Column("words"), Column("runs", INTEGER), Column("conditions", LIST)),
    )

    subgraph: int
    node: int
    op: str
    first_node: int
    """The first node that is needed for the difference. Equal to ``node`` if that node alone differs."""
    is_narrow: bool
    """False if the node at fault may be any node from ``first_node`` to ``node``, because smaller parts did not run."""
    outcome: str
    """``wrong`` or ``failed``."""
    difference: TensorDifference | None
    """The first wrong output of the nodes up to ``node``. None if they do not run."""
    words: str
    """The message of the runtime if the nodes do not run; otherwise empty."""
    runs: int
    """The number of parts of the model that were run."""
    conditions: tuple[KnownCondition, ...] = ()

    @property
    def is_joint(self) -> bool:
        """Whether only several nodes together are wrong, and each of them is right alone."""
        return self.is_narrow and self.first_node != self.node


@dataclass(frozen=True, slots=True)
class VerifiedEntry(Declared):
    """The comparison of one signature, or of the first subgraph of a model without signatures."""

    columns = (
        *(Column("key"), Column("subgraph", INTEGER), Column("is_right", YES_OR_NO), Column("state")),
        *(*attributes("stage", "failure"), Column("is_crash", YES_OR_NO)),
        *(Column("outputs", LIST), Column("errors_in_steps", LIST), Column("culprit", OBJECT), Column("conditions", LIST)),
    )

    key: str
    subgraph: int
    outputs: tuple[TensorDifference, ...] = ()
    wrong: tuple[TensorDifference, ...] = ()
    """The outputs that differ by more than the tolerance."""
    stage: str = ""
    """The step that fails, ``load`` or ``run``. Empty if the model runs."""
    failure: str = ""
    """The message of the runtime if the model does not run, or the end of the process; otherwise empty."""
    is_crash: bool = False
    culprit: Culprit | None = None
    """None if the outputs are right, or if no part of the model behaves like the whole model."""
    conditions: tuple[KnownCondition, ...] = ()
    """Known conditions of inputs and outputs, or the predicted failure, if no node is at fault.

    If the outputs are right, these are the conditions of nodes that are known to be wrong, but by less than the tolerance here.
    """
    errors_in_steps: tuple[float | None, ...] = ()
    """The largest error of each output in steps of its quantization. None for outputs that are not quantized."""

    @property
    def is_right(self) -> bool:
        """Whether the model runs, and all outputs are right."""
        return not self.wrong and not self.failure

    @property
    def state(self) -> str:
        """A name of ``STATES``.

        If only several nodes together are wrong for an unknown reason, small differences may add up, but not to values that are
        not finite.
        """
        if self.is_right:
            return NOTHING_SHOWN if all(output.is_constant for output in self.outputs) else RIGHT
        if self.failure:
            return FAILED
        is_joint = self.culprit is not None and self.culprit.is_joint and not self.all_conditions
        return DIFFERENT if is_joint and not any(output.problem for output in self.outputs) else WRONG

    @property
    def all_conditions(self) -> tuple[KnownCondition, ...]:
        """The known conditions of the entry and of the node at fault."""
        return self.conditions if self.culprit is None else (*self.conditions, *self.culprit.conditions)


@dataclass(frozen=True, slots=True)
class Verification(Declared):
    """The comparison of a model on a delegate's real code with the reference kernels."""

    document = "verification"
    columns = (
        *(*attributes("model", "on", "software"), Column("is_right", YES_OR_NO), Column("state"), Column("samples", INTEGER)),
        *(Column("tolerance", NUMBER, source="tolerance.share"), Column("steps", INTEGER, source="tolerance.steps")),
        *(Column("delegated_nodes", INTEGER), Column("nodes", INTEGER), Column("entries", LIST)),
    )

    model: str
    on: str
    software: str
    """The installed release of LiteRT, such as ``litert-2.3.0``."""
    tolerance: ErrorTolerance
    samples: int
    """The number of sets of inputs for each signature."""
    delegated_nodes: int | None
    """The number of nodes that the delegate takes, by simulation. None for the CPU."""
    nodes: int
    entries: tuple[VerifiedEntry, ...]
    target: Target | None = None
    """The target of the simulation. None for the CPU."""

    @property
    def is_right(self) -> bool:
        """Whether all signatures run, and all outputs are right."""
        return all(entry.is_right for entry in self.entries)

    @property
    def state(self) -> str:
        """The worst state of a signature. It is ``shows-nothing`` if ``shows_nothing`` is true and no signature is wrong."""
        states = {entry.state for entry in self.entries}
        worst = next((state for state in (FAILED, WRONG, DIFFERENT) if state in states), RIGHT)
        return NOTHING_SHOWN if worst == RIGHT and self.shows_nothing else worst

    @property
    def shows_nothing(self) -> bool:
        """Whether right outputs say nothing about the delegate: it runs no node, or no output depends on the inputs."""
        return self.delegated_nodes == 0 or all(output.is_constant for entry in self.entries for output in entry.outputs)
