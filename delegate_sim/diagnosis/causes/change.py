"""Changes that may fix a cause, with their simulated results. ``change_words`` has the texts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ..examiner import Cost


class ChangeKind(Enum):
    """The kinds of change. ``change_words.WORDS`` has the text of each kind, and says which parameters the kind has."""

    COMPILE = "compile"
    COMPUTE_IN_FLOAT = "compute-in-float"
    CONVERT = "convert"
    FEATURE = "feature"
    FIX_INPUTS = "fix-inputs"
    FIX_SHAPES = "fix-shapes"
    GENERAL = "general"
    HINT = "hint"
    INLINE = "inline"
    KEEP_SIZE = "keep-size"
    KEEP_WEIGHTS = "keep-weights"
    LEAVE_ARITHMETIC = "leave-arithmetic"
    LEAVE_INTEGERS = "leave-integers"
    LEAVE_TEXT = "leave-text"
    MASK = "mask"
    OPTIONS = "options"
    OPTIONS_OF_DEVICES = "options-of-devices"
    OTHER_DELEGATES = "other-delegates"
    REGISTER = "register"
    RELEASES = "releases"
    RESIZE = "resize"
    SEPARATE_MODELS = "separate-models"
    STORE_IN_FLOAT32 = "store-in-float32"
    TO_APPLICATION = "to-application"
    TEXT_TO_APPLICATION = "text-to-application"
    UNROLL = "unroll"
    WITHOUT_OPTIONS = "without-options"
    WRITE_AS = "write-as"


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
class Simulated:
    """The result of a change.

    ``cost`` is the result of making only this change. If the result is not known, ``cost`` is None and ``unknown`` is the
    reason. If only this change does not help, ``with_others`` may have the result with other fixes, which ``assumed`` names.
    ``helps`` is true if the change improves one of the two results.
    """

    cost: Cost | None
    helps: bool = False
    with_others: Cost | None = None
    assumed: Assumed = Assumed.NOTHING
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that may fix a cause: its kind, and the values of its text.

    ``remedy`` simulates the change, if the change can be simulated. ``simulated`` is the result, or None without a simulation.
    """

    kind: ChangeKind
    parameters: tuple[Any, ...] = ()
    remedy: Remedy | None = None
    simulated: Simulated | None = None

    @property
    def helps(self) -> bool:
        """Whether a simulation shows that the change helps."""
        return self.simulated is not None and self.simulated.helps

    @property
    def cost(self) -> Cost | None:
        """The result of making only this change, or None if the result is not known."""
        return None if self.simulated is None else self.simulated.cost

    @property
    def assumed(self) -> Assumed:
        """The assumption under which the change helps."""
        return Assumed.NOTHING if self.simulated is None else self.simulated.assumed


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
