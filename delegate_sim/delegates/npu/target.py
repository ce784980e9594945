"""The target that the plugins' rules depend on, and upstream sources that several modules cite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release
from .loader_facts import FileFacts
from .op_filters import OpFilters


class NpuTarget(NamedTuple):
    """The release, and a plugin's inputs besides the node: properties of the file, filters, and original tensors."""

    release: Release = NEWEST
    facts: FileFacts | None = None
    filters: OpFilters | None = None
    tensors: Mapping[int, tuple[int, int]] | None = None
    """Places in the file of tensors that inlining added: subgraph and index."""
