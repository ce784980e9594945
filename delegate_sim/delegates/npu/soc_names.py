"""Names of SoCs that users can give. A name may omit the vendor, ignore case, or be the name of a phone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib import import_module

from ...errors import OptionError
from ..boards import SEVERAL_SOCS, board_hint, folded
from ..options import parse_options
from ..registry import CLOSED_PLUGIN_NAMES, PLUGIN_NAMES, find_delegate, plugin_of

ALL = "all"
"""The name that chooses one SoC of each vendor."""
_SOC = "soc"
_MOST_SIMILAR = 5
_VENDORS = tuple([name.partition("-")[2] for name in (*PLUGIN_NAMES, *CLOSED_PLUGIN_NAMES)])

NAMES = {
    "google:Tensor_G3": ("Pixel 8", "Pixel 8 Pro", "Pixel 8a"),
    "google:Tensor_G4": ("Pixel 9", "Pixel 9 Pro", "Pixel 9a", "Pixel 10a"),
    "google:Tensor_G5": ("Pixel 10", "Pixel 10 Pro"),
    "intel:LNL": ("Lunar Lake", "Core Ultra 200V"),
    "intel:PTL": ("Panther Lake",),
    "mediatek:mt6853": ("Dimensity 720", "Dimensity 800U"),
    "mediatek:mt6877": ("Dimensity 900", "Dimensity 920", "Dimensity 1080", "Dimensity 7050"),
    "mediatek:mt6878": ("Dimensity 7300", "Dimensity 7400"),
    "mediatek:mt6879": ("Dimensity 1050", "Dimensity 7030"),
    "mediatek:mt6886": ("Dimensity 7200",),
    "mediatek:mt6893": ("Dimensity 1200", "Dimensity 1300"),
    "mediatek:mt6895": ("Dimensity 8100", "Dimensity 8200"),
    "mediatek:mt6897": ("Dimensity 8300", "Dimensity 8350", "MT8792"),
    "mediatek:mt6983": ("Dimensity 9000",),
    "mediatek:mt6985": ("Dimensity 9200",),
    "mediatek:mt6989": ("Dimensity 9300",),
    "mediatek:mt6991": ("Dimensity 9400",),
    "mediatek:mt6993": ("Dimensity 9500",),
    "mediatek:mt8188": ("Kompanio 838",),
    "mediatek:mt8189": ("Kompanio 540",),
    "qualcomm:SDM845": ("Snapdragon 845",),
    "qualcomm:SM8150": ("Snapdragon 855",),
    "qualcomm:SM8250": ("Snapdragon 865",),
    "qualcomm:SM4350": ("Snapdragon 480",),
    "qualcomm:SM6125": ("Snapdragon 665",),
    "qualcomm:SM6150": ("Snapdragon 675",),
    "qualcomm:SM6225": ("Snapdragon 680",),
    "qualcomm:SM6350": ("Snapdragon 690",),
    "qualcomm:SM6375": ("Snapdragon 695",),
    "qualcomm:SM7125": ("Snapdragon 720G",),
    "qualcomm:SM7150": ("Snapdragon 730",),
    "qualcomm:SM7225": ("Snapdragon 750G",),
    "qualcomm:SM7250": ("Snapdragon 765G",),
    "qualcomm:SM7325": ("Snapdragon 778G",),
    "qualcomm:SM7350": ("Snapdragon 780G",),
    "qualcomm:SM6450": ("Snapdragon 6 Gen 1",),
    "qualcomm:SM7435": ("Snapdragon 7s Gen 2",),
    "qualcomm:SM7450": ("Snapdragon 7 Gen 1",),
    "qualcomm:SM7475": ("Snapdragon 7+ Gen 2",),
    "qualcomm:SM7550": ("Snapdragon 7 Gen 3",),
    "qualcomm:SM7675": ("Snapdragon 7+ Gen 3",),
    "qualcomm:SM8635": ("Snapdragon 8s Gen 3",),
    "qualcomm:SC8380XP": ("Snapdragon X Elite",),
    "qualcomm:SXR2230P": ("Snapdragon XR2 Gen 2", "Quest 3"),
    "qualcomm:QCM6490": ("Fairphone 5",),
    "qualcomm:QRB5165LE": ("Robotics RB5",),
    "qualcomm:SM8350": ("Snapdragon 888",),
    "qualcomm:SM8450": ("Snapdragon 8 Gen 1",),
    "qualcomm:SM8475": ("Snapdragon 8+ Gen 1",),
    "qualcomm:SM8550": ("Snapdragon 8 Gen 2", "Galaxy S23", "Galaxy S23 Ultra"),
    "qualcomm:SM8650": ("Snapdragon 8 Gen 3", "Galaxy S24 Ultra"),
    "qualcomm:SM8750": ("Snapdragon 8 Elite", "Galaxy S25", "Galaxy S25 Ultra"),
    "qualcomm:SM8850": ("Snapdragon 8 Elite Gen 5",),
    "samsung:E9955": ("Exynos 2500", "Galaxy Z Flip7"),
    "samsung:E9965": ("Exynos 2600",),
}
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
    for vendor, models in [(vendor, _socs_of(vendor)) for vendor in _VENDORS if plugin_of(vendor) in PLUGIN_NAMES]:
        for model in models:
            full = f"{vendor}:{model}"
            socs |= dict.fromkeys([model, *map(folded, NAMES.get(full, ()))], full)
    return socs


def known_names(vendors: Iterable[str] = _VENDORS) -> dict[str, str]:
    """Map names of the vendors' SoCs to full names. The keys were folded with ``folded``."""
    names: dict[str, str] = {}
    for vendor in vendors:
        for model in _socs_of(vendor):
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


def _socs_of(vendor: str) -> tuple[str, ...]:
    socs: tuple[str, ...] = import_module(f".vendors.{vendor}", __package__).SOCS
    return socs


def _not_simulated(text: str, full: str, plugin: str) -> str:
    vendor, _, model = full.partition(":")
    return (
        f"the NPU of {text} ({full}) cannot be simulated, because a closed-source library of {vendor.capitalize()} decides "
        f"about every node. Run the real plugin with `delegate-sim analyze MODEL --delegate {plugin} "
        f"--option soc={model or 'SOC'} --live` (see delegate-sim doctor), or add --accelerators gpu,cpu to simulate only the "
        "GPU and the CPU"
    )
