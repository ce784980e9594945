"""Settings for running real delegates on this host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class PluginTraits:
    """The settings with which LiteRT's own tool runs a compiler plugin."""

    manufacturer: str
    """The name that the tool uses for the vendor."""
    folder: str
    """The plugin's folder under ``vendors`` in LiteRT's package."""
    libraries: tuple[tuple[str, str], ...]
    """Python packages that may contain the vendor's libraries, each with the folder of the libraries inside the package."""
    needs: str
    """A text that tells users which libraries they need and where to get them."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Options whose value the tool reads from a file, each with the tool's flag for that file."""
    closed_line: str = ""
    """A line of the plugin's log that appears if the vendor's closed-source code decides in place of the simulated rules."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield the tool's flags for a plugin's options."""
        yield f"--soc_model={options['soc']}"
        yield f"--partition_strategy={options['partition_strategy']}"
        if options["max_partitions"]:
            yield f"--compiler_options_max_partitions={options['max_partitions']}"
        if options["subgraphs"]:
            yield f"--subgraphs={','.join(map(str, options['subgraphs']))}"


@dataclass(frozen=True, slots=True)
class RuntimeTraits:
    """A delegate that LiteRT's Python interpreter applies by itself, with default options."""


@dataclass(frozen=True, slots=True)
class AcceleratorTraits:
    """An accelerator that CompiledModel loads from a library in LiteRT's package, and that needs a graphics driver."""

    library: str
    """The library's file name in LiteRT's package."""
    fixed: Mapping[str, Any]
    """Options that Python cannot change, with their values."""
    heading: str
    """The first line that the accelerator prints about refused nodes."""
    last: str
    """A regular expression that matches the last line about refused nodes."""
    adapter: str
    """A text that the log contains if a device was found."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield CompiledModel's arguments: the accelerators, then the precision."""
        yield "gpu,cpu" if options["cpu_fallback"] else "gpu"
        yield options["precision"]


@dataclass(frozen=True, slots=True)
class VelaTraits:
    """Arm's compiler Vela, which compiles a file for an Ethos-U NPU."""

    accelerator: str
    """The configuration of the NPU (``vela --accelerator-config``)."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield Vela's arguments for the configuration and for the options that are set."""
        yield f"--accelerator-config={self.accelerator}"
        for name, value in options.items():
            if value:
                yield f"--{name.replace('_', '-')}={value}"


LiveTraits: TypeAlias = PluginTraits | RuntimeTraits | AcceleratorTraits | VelaTraits
