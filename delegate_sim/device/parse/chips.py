"""Find the names of vendors and SoCs in log lines, such as ``sm8750``, ``s5e9965`` or ``libLiteRtDispatch_Qualcomm.so``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SOCS = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<Qualcomm>(?:sm|qcs|qcm|sa|sxr)\d{4}p?)|(?P<MediaTek>mt[68]\d{3})|(?P<Samsung>s5e\d{4})|"
    r"(?P<Google>tensor_g\d{1,2}))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""Matches the model numbers of SoCs. The name of each group in the pattern is the vendor."""
_VENDORS = tuple(
    (vendor, re.compile(form, re.IGNORECASE))
    for vendor, form in (
        ("Qualcomm", r"libLiteRt\w{1,40}_Qualcomm|\bqnn_\w{1,60}\.cc|libQnn\w|TfLiteQnn|QnnDsp|\[QNN Delegate\]"),
        ("MediaTek", r"libLiteRt\w{1,40}_MediaTek|\bneuron_\w{1,60}\.cc|libneuron\w{0,40}\.|apuware"),
        ("Samsung", r"libLiteRt\w{1,40}_Samsung|\benn_\w{1,60}\.cc|libenn_"),
        ("Google", r"libLiteRt\w{1,40}_GoogleTensor|SOC_MANUFACTURER: Google"),
        ("Intel", r"libLiteRt\w{1,40}_IntelOpenvino"),
    )
)
_NEEDLES = (
    "sm", "qcs", "qcm", "sa8", "sxr", "mt6", "mt8", "s5e", "tensor_g", "liblitert", "qnn", "neuron", "apuware", "enn_", "soc_",
)  # fmt: skip
"""Words in lower case. Every line about a chip contains at least one of these words."""


def chips_in(text: str) -> list[tuple[str, str]]:
    """Return the chips in a line, as (vendor, SoC). The SoC is "" if the line names only a vendor."""
    lower = text.lower()
    if not any(needle in lower for needle in _NEEDLES):
        return []
    names = [(str(match.lastgroup), match[0]) for match in _SOCS.finditer(text)]
    return names or [(vendor, "") for vendor, form in _VENDORS if form.search(text) is not None]


def chip_names(chips: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the distinct chips as text. A vendor without a SoC is left out if the text has a chip of this vendor."""
    named = {vendor for vendor, soc in chips if soc}
    texts = [f"{vendor} {soc.lower().replace('tensor_g', 'Tensor_G')}" for vendor, soc in chips if soc]
    return tuple(dict.fromkeys([*texts, *[vendor for vendor, soc in chips if not soc and vendor not in named]]))
