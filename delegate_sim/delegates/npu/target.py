"""The facts about the runtime, the file and the options that the rules of the plugins depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release
from .loader_facts import FileFacts
from .op_filters import OpFilters


class NpuTarget(NamedTuple):
    """The release of the runtime, the properties of the file, the op filters, and the places of inlined tensors."""

    release: Release = NEWEST
    facts: FileFacts | None = None
    filters: OpFilters | None = None
    tensors: Mapping[int, tuple[int, int]] | None = None
    """The place in the file (subgraph and index) of each tensor that inlining added, by the index of the tensor."""
