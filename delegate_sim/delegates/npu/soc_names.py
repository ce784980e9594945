"""Names of SoCs that users can give. A name may omit the vendor, ignore case, or be the name of a phone."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from ...errors import OptionError
from ..boards import SEVERAL_SOCS, board_hint, folded
from ..options import parse_options
from ..registry import CLOSED_PLUGIN_NAMES, PLUGIN_NAMES, find_delegate, plugin_of

ALL = "all"
"""The name that chooses one SoC of each vendor."""
_SOC = "soc"
_MOST_SIMILAR = 5
_VENDORS = tuple([name.partition("-")[2] for name in (*PLUGIN_NAMES, *CLOSED_PLUGIN_NAMES)])

SOCS: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(pkgutil.get_data(__package__, "socs.json") or b"")
"""The SoCs that each vendor's plugin knows, by the vendor's name, with their phones, trade names and variants.

Qualcomm's SoCs are those that LiteRT lists (``litert/vendors/qualcomm/supported_soc.csv``).
"""
NAMES = {f"{vendor}:{soc}": tuple(names) for vendor, socs in SOCS.items() for soc, names in socs.items() if names}
"""The phones, trade names and variants of each SoC. For example, MT8792 is the variant of MT6897 for tablets."""


def full_soc_name(text: str) -> str:
    """Return the full name of a SoC whose plugin can be simulated. Raises OptionError for all other SoCs."""
    full = recognized_soc_name(text)
    plugin = plugin_of(full.partition(":")[0])
    if plugin in CLOSED_PLUGIN_NAMES:
        raise OptionError(_not_simulated(text, full, plugin))
    return full


def recognized_soc_name(text: str) -> str:
    """Return the full name of a SoC, such as ``google:Tensor_G5``, whether or not its plugin can be simulated.

    A name with a vendor is accepted even if the vendor's plugin does not know the SoC. The simulation then reports the failure of
    the plugin. Raises OptionError for unknown names without a vendor, and for unknown vendors.
    """
    vendor, colon, model = (part.strip() for part in text.partition(":"))
    vendor = vendor.lower()
    if colon or vendor in _VENDORS:
        plugin_of(vendor)
        return known_names([vendor]).get(folded(model), f"{vendor}:{model}")
    known = known_names()
    if folded(text) not in known:
        raise OptionError(_unknown(text, known))
    return known[folded(text)]


def each_vendor(socs: Iterable[str]) -> Iterator[str]:
    """Yield the given names, with one SoC of each vendor instead of ``all``.

    Vendors without a simulated plugin are left out. All SoCs of a vendor have the same result.
    """
    for soc in socs:
        if folded(soc) != ALL:
            yield soc
            continue
        for name in PLUGIN_NAMES:
            plugin = find_delegate(name)
            yield f"{name.partition('-')[2]}:{parse_options(name, plugin.options, {})[_SOC]}"


def simulated_socs() -> dict[str, str]:
    """Map names of SoCs to full names such as ``google:Tensor_G5``, for all plugins that can be simulated.

    A key is a full name without the vendor, or a name in ``NAMES`` that was folded with ``folded``.
    """
    socs: dict[str, str] = {}
    for vendor, models in [(vendor, SOCS[vendor]) for vendor in _VENDORS if plugin_of(vendor) in PLUGIN_NAMES]:
        for model in models:
            full = f"{vendor}:{model}"
            socs |= dict.fromkeys([model, *map(folded, NAMES.get(full, ()))], full)
    return socs


def known_names(vendors: Iterable[str] = _VENDORS) -> dict[str, str]:
    """Map names of the vendors' SoCs to full names. The keys were folded with ``folded``."""
    names: dict[str, str] = {}
    for vendor in vendors:
        for model in SOCS[vendor]:
            full = f"{vendor}:{model}"
            names |= {folded(name): full for name in (model, *NAMES.get(full, ()))}
    return names


def _unknown(text: str, known: dict[str, str]) -> str:
    typed = folded(text)
    if typed == ALL:
        return "name one SoC, such as pixel10 or mt6991"
    socs = next((socs for phone, socs in SEVERAL_SOCS.items() if folded(phone) == typed), ())
    if socs:
        return f"the phone {text!r} has one of two SoCs, depending on the region: {' or '.join(socs)}"
    if hint := board_hint(text):
        return f"LiteRT's compiler plugins do not know the SoC {text!r}{hint}"
    near = [name for name, full in known.items() if typed and _has_word(name, full, typed)]
    near += get_close_matches(typed, known, n=8)
    titles = [_title(name, known[name]) for name in dict.fromkeys(near)][:_MOST_SIMILAR]
    others = f"similar names are {', '.join(titles)}" if titles else "give the SoC as VENDOR:SOC, such as google:Tensor_G5"
    return f"LiteRT's compiler plugins do not know the SoC {text!r}; {others}"


def _has_word(name: str, full: str, beginning: str) -> bool:
    words = next((trade_name.split() for trade_name in NAMES.get(full, ()) if folded(trade_name) == name), [])
    return any(folded("".join(words[start:])).startswith(beginning) for start in range(len(words)))


def _title(typed: str, full: str) -> str:
    trade_name = next((name for name in NAMES.get(full, ()) if folded(name) == typed), "")
    return f"{trade_name} ({full})" if trade_name else full


def _not_simulated(text: str, full: str, plugin: str) -> str:
    vendor, _, model = full.partition(":")
    return (
        f"the NPU of {text} ({full}) cannot be simulated, because a closed-source library of {vendor.capitalize()} decides "
        f"about every node. Run the real plugin with `delegate-sim analyze MODEL --delegate {plugin} "
        f"--option soc={model or 'SOC'} --live` (see delegate-sim doctor), or add --accelerators gpu,cpu to simulate only the "
        "GPU and the CPU"
    )
