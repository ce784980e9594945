"""What the plugins' rules depend on besides the node, and the places upstream that several modules name."""

from __future__ import annotations

from collections.abc import Mapping

from ...named_tuples import NamedTuple
from ...releases.catalogue import NEWEST, Release
from ...rules.source import LITERT, Source
from .file_facts import FileFacts
from .op_filters import OpFilters

PLUGIN = Source(LITERT, "litert/compiler/plugin/compiler_plugin.cc", "PartitionModel")
ALGORITHMS = Source(LITERT, "litert/compiler/plugin/algo.cc", "GroupPartitionsV2")
LOADER = Source(LITERT, "litert/core/model/model_load.cc", "UnpackTensor")


class NpuTarget(NamedTuple):
    """The release, and what a plugin looks up beside the node: what only the file has, filters, and original tensors."""

    release: Release = NEWEST
    facts: FileFacts | None = None
    filters: OpFilters | None = None
    tensors: Mapping[int, tuple[int, int]] | None = None
    """Where tensors that were added by inlining stand in the file: subgraph and index."""
