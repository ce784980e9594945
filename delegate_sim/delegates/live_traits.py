"""Declarations of how delegates run on a host, for ``live``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class PluginTraits:
    """The way that LiteRT's own tool runs a compiler plugin."""

    manufacturer: str
    """The tool's name for the vendor."""
    folder: str
    """The plugin's folder in LiteRT's package, below ``vendors``."""
    libraries: tuple[tuple[str, str], ...]
    """Packages that may have the libraries of the vendor, each with their folder in it."""
    needs: str
    """The libraries that must be there, and where they come from, in words."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Options whose text the tool takes from a file, each with the tool's flag for it."""
    closed_line: str = ""
    """The log line of the plugin where closed code of the vendor decides in place of the simulated rules."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Return the tool's flags for a plugin's options."""
        yield f"--soc_model={options['soc']}"
        yield f"--partition_strategy={options['partition_strategy']}"
        if options["max_partitions"]:
            yield f"--compiler_options_max_partitions={options['max_partitions']}"
        if options["subgraphs"]:
            yield f"--subgraphs={','.join(map(str, options['subgraphs']))}"


@dataclass(frozen=True, slots=True)
class RuntimeTraits:
    """A delegate that LiteRT's interpreter in Python applies by itself, with its default options."""


@dataclass(frozen=True, slots=True)
class AcceleratorTraits:
    """An accelerator that LiteRT's CompiledModel loads from a library beside it, and that needs a graphics driver."""

    library: str
    """The library's file in LiteRT's package."""
    fixed: Mapping[str, Any]
    """The values of options that it cannot be given others of in Python."""
    heading: str
    """The first line of what it prints of refused nodes."""
    last: str
    """The regular expression that its last line matches."""
    adapter: str
    """A text that its log has once a device was found."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Return what CompiledModel is given: the accelerators, and the precision."""
        yield "gpu,cpu" if options["cpu_fallback"] else "gpu"
        yield options["precision"]


LiveTraits: TypeAlias = PluginTraits | RuntimeTraits | AcceleratorTraits
