"""How delegates are run on a host, for ``live``: what a delegate says of itself, without anything being run or imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias


class PluginTraits(NamedTuple):
    """How LiteRT's own tool runs a compiler plugin."""

    manufacturer: str
    """What the tool calls the vendor."""
    folder: str
    """Where LiteRT's package has the plugin, below ``vendors``."""
    package: str = ""
    """The package that has the libraries that the plugin is linked to; empty if it needs none."""
    libraries: str = ""
    """Their folder in that package."""
    needs: str = ""
    """What else must be there to run it, in words."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Return the tool's flags for a plugin's options."""
        yield f"--soc_model={options['soc']}"
        yield f"--partition_strategy={options['partition_strategy']}"
        if options["max_partitions"]:
            yield f"--compiler_options_max_partitions={options['max_partitions']}"
        if options["subgraphs"]:
            yield f"--subgraphs={','.join(map(str, options['subgraphs']))}"


class RuntimeTraits(NamedTuple):
    """A delegate that LiteRT's interpreter in Python applies by itself, with its default options."""

    kernel: str
    """The name of its kernels in execution plans."""


LiveTraits: TypeAlias = PluginTraits | RuntimeTraits
