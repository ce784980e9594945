"""Shell completion of releases, SoCs and codes."""

from __future__ import annotations

from collections.abc import Iterable

import click


def complete_releases(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of the runtime's releases that start with the incomplete word."""
    from delegate_sim.releases.catalogue import KNOWN_RELEASES, RELEASES
    from delegate_sim.releases.litert_lm import LITERT_LM_RELEASES

    return _starting(dict.fromkeys((*RELEASES, *KNOWN_RELEASES, *LITERT_LM_RELEASES)), incomplete)


def complete_socs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the SoCs that start with the incomplete word.

    Names of the form VENDOR:SOC are returned only if no other name fits.
    """
    from delegate_sim.delegates.npu.soc_names import simulated_socs

    by_name = simulated_socs()
    return _starting(by_name, incomplete) or _starting(dict.fromkeys(by_name.values()), incomplete)


def complete_codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes that start with the incomplete word, from all codes that a report can contain."""
    from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate

    from ..codes import explanations

    return _starting(sorted(explanations(tuple(map(find_delegate, DELEGATE_NAMES)))), incomplete)


def _starting(names: Iterable[str], beginning: str) -> list[str]:
    return [name for name in names if name.casefold().startswith(beginning.casefold())]
