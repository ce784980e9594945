"""One thing that is wrong with a model on a target, or worth knowing, and where."""

from __future__ import annotations

from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"


class Location(NamedTuple):
    """A node, or the whole model. ``name`` is that of the node's first output tensor."""

    subgraph: int | None = None
    subgraph_name: str = ""
    node: int | None = None
    op: str = ""
    name: str = ""


WHOLE_MODEL = Location()


class Finding(NamedTuple):
    """One thing that is wrong, or worth knowing.

    ``code`` is one that ``delegate-sim explain`` knows; ``level`` is ``error``, ``warning`` or ``note``; ``statement`` is one
    line that may hold names from a model as they are; ``hint`` says what to do and may be empty. A statement about a node
    begins with the verb: ``node_name`` is its subject, and empty for any other statement.
    """

    code: str
    level: str
    statement: str
    hint: str = ""
    location: Location = WHOLE_MODEL
    node_name: str = ""

    @property
    def message(self) -> str:
        """The statement with its subject."""
        return f"{self.node_name} {self.statement}" if self.node_name else self.statement
