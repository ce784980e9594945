"""The target that the plugins' rules depend on, and upstream sources that several modules name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release
from .loader_facts import FileFacts
from .op_filters import OpFilters


class NpuTarget(NamedTuple):
    """The release, and what a plugin looks up beside the node: what only the file has, filters, and original tensors."""

    release: Release = NEWEST
    facts: FileFacts | None = None
    filters: OpFilters | None = None
    tensors: Mapping[int, tuple[int, int]] | None = None
    """Where tensors that were added by inlining stand in the file: subgraph and index."""
