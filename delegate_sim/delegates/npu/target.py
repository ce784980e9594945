"""The target of the plugins' rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release
from .loader_facts import FileFacts
from .op_filters import OpFilters


class NpuTarget(NamedTuple):
    """The release of the runtime, the properties of the model file, the op filters, and the places of inlined tensors."""

    release: Release = NEWEST
    facts: FileFacts | None = None
    filters: OpFilters | None = None
    tensors: Mapping[int, tuple[int, int]] | None = None
    """The place in the model file, as (subgraph, index), of each tensor that inlining added. The key is the tensor's index."""
