"""The state of the simulated engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..releases.catalogue import NEWEST, Release
from .bundle import Bundle
from .compiled import Compiled
from .report import BundleReplacement
from .sections import UNCLUSTERED_MODEL, LlmMetadata

_DEFAULT_TOKENS = 4096


@dataclass
class EngineProgress:
    """The bundle, the backend and the settings of a run, and the results and log lines of the finished checks."""

    bundle: Bundle
    backend: str
    options: Mapping[str, Any]
    release: Release = NEWEST
    metadata: LlmMetadata | None = None
    replacements: list[BundleReplacement] = field(default_factory=list)
    log_lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the engine, such as ``max_num_tokens``."""
        settings = self.options.get("kw")
        return settings if isinstance(settings, Mapping) else {}

    @property
    def is_clustered(self) -> bool:
        """Whether the runtime may reorder nodes on the CPU, so that XNNPACK gets fewer partitions."""
        return self.metadata is None or self.metadata.model_name != UNCLUSTERED_MODEL

    @property
    def max_num_tokens(self) -> int:
        """The largest number of tokens: the value in the settings, otherwise in the metadata, otherwise the engine's default."""
        asked = self.settings.get("max_num_tokens")
        if isinstance(asked, int) and asked > 0:
            return asked
        return self.metadata.max_num_tokens if self.metadata is not None and self.metadata.max_num_tokens > 0 else _DEFAULT_TOKENS

    def add(self, compiled: Compiled) -> None:
        """Record a compiled model and its log lines."""
        self.replacements += compiled.replacements
        self.log_lines += compiled.run.log_lines

    def add_lines(self, replacements: Iterable[BundleReplacement]) -> None:
        """Record replacements of nodes."""
        self.replacements += replacements
