"""Changes that may fix a cause, with their texts and simulated results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ..examiner import Cost


class ChangeKind(Enum):
    """The kinds of change that a diagnosis treats differently."""

    APPLICATION = "application"
    """The application does the work of the nodes."""
    CONVERSION = "conversion"
    """Other settings of the conversion, such as the types of tensors."""
    LAYER = "layer"
    """The layer is written with other operators."""
    OPTIONS = "options"
    """Other options of the delegate."""
    RESHAPE = "reshape"
    """Other dimensions of tensors, by a RESHAPE before or after the node."""
    OTHER = "other"


class Assumed(Enum):
    """The assumption under which a change helps: other changes are made too."""

    NOTHING = ""
    SIZES = "fixed input sizes"
    OTHERS = "the other causes fixed"


@dataclass(frozen=True, slots=True)
class Remedy(HypotheticalChanges):
    """The hypothetical changes that fix a cause in a simulation."""

    accepts: bool = False
    """Whether the simulation also assumes that the delegate takes the cause's nodes."""
    sized_by: NodeKey | None = None
    """The node whose result has the unknown size that ``fixed_shapes`` fixes, if the size comes from a node of the file."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that may fix a cause, and its simulated result. Code never reads the texts.

    ``cost`` is the result of making only this change. If the result is not known, ``cost`` is None and ``unknown`` is the
    reason. If only this change does not help, ``with_others`` may have the result with other fixes, which ``assumed`` names.
    ``helps`` is true if the change improves one of the two results.
    """

    text: str
    """The instructions."""
    kind: ChangeKind = ChangeKind.OTHER
    name: str = ""
    """The short name in lists of changes."""
    note: str = ""
    """Further instructions, which follow the result."""
    remedy: Remedy | None = None
    """The hypothetical changes that simulate the change. None if it cannot be simulated."""
    cost: Cost | None = None
    helps: bool = False
    with_others: Cost | None = None
    assumed: Assumed = Assumed.NOTHING
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """The changes for a cause. ``code`` is a key of ``SUGGESTIONS``.

    ``changes`` belong together, or, if ``are_alternatives`` is true, each of them is enough. ``tried`` has the changes that
    were simulated in place of each other, in order: changes that help come first.
    """

    code: str
    changes: tuple[Change, ...]
    are_alternatives: bool = False
    tried: tuple[Change, ...] = ()
    is_not_simulated: bool = False
    """Whether the text says that the result of the changes is not simulated."""
    folded: tuple[str, ...] = ()
    """Operators of the cause around which TensorFlow's converter removes the RESHAPE that the changes ask for."""
