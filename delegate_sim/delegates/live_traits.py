"""Settings for running real delegates on this host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..foundation import packages


@dataclass(frozen=True, slots=True)
class PluginTraits:
    """The settings with which LiteRT's own tool runs a compiler plugin."""

    manufacturer: str
    """The name that LiteRT's tool uses for the vendor."""
    folder: str
    """The plugin's folder under ``vendors`` in LiteRT's package."""
    libraries: tuple[tuple[str, str], ...]
    """Python packages that may contain the vendor's libraries, each with the folder of the libraries in the package."""
    needs: str
    """A text for users: the required libraries, and where to get them."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The options with values that LiteRT's tool reads from a file, and for each option the flag with the file's path."""
    closed_line: str = ""
    """A line that the plugin prints if closed-source code, not the simulated rules, decides about nodes."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield the flags of LiteRT's tool for the plugin's options."""
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
    """An accelerator that CompiledModel loads from a library in LiteRT's package. The accelerator needs a graphics driver."""

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


_VELA = "ethos-u-vela"


@dataclass(frozen=True, slots=True)
class VelaTraits:
    """The settings with which Arm's compiler Vela is run."""

    accelerator: str
    """The configuration of the NPU (``vela --accelerator-config``)."""

    @property
    def version(self) -> str:
        """The installed version of Vela; empty if Vela is not installed."""
        return packages.package_version(_VELA)

    @property
    def software(self) -> str:
        """The name and the installed version of Vela, such as ``vela-5.2.0``; empty if Vela is not installed."""
        return f"vela-{self.version}" if self.version else ""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield Vela's arguments for the configuration and for the options that are set."""
        yield f"--accelerator-config={self.accelerator}"
        for name, value in options.items():
            if value:
                yield f"--{name.replace('_', '-')}={value}"


LiveTraits: TypeAlias = PluginTraits | RuntimeTraits | AcceleratorTraits | VelaTraits
