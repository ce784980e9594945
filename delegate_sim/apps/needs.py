"""The needs of accelerators in an application: the rows of ``needs.tsv``."""

from __future__ import annotations

import csv
import json
import pkgutil
from collections.abc import Mapping
from typing import NamedTuple

from ..rules.kinds import Explanation


class Need(NamedTuple):
    """One need of an accelerator: any one of ``names`` is enough. ``{}`` in a name stands for the version of Qualcomm's HTP."""

    code: str
    target: str
    is_of_interpreter: bool
    """Whether the classic Interpreter applies the accelerator, and not CompiledModel."""
    may_be_linked: bool
    """Whether LiteRT-LM's library may contain the accelerator."""
    is_declared: bool
    """Whether the manifest has to declare a library of the phone, unless the application has a library of this name."""
    names: tuple[str, ...]
    needs_compiler: bool
    """Whether only models need it that are not compiled for the vendor yet."""
    each_version: bool
    abis: tuple[str, ...]
    """The only ABIs of the accelerator; empty for every ABI of the application."""
    for_all: bool
    """Whether every phone with the accelerator needs it. Otherwise, only some phones do."""


def _needs() -> tuple[Need, ...]:
    lines = (pkgutil.get_data(__package__, "needs.tsv") or b"").decode("utf-8").splitlines()
    rows = csv.DictReader([line for line in lines if not line.startswith("#")], delimiter="\t")
    return tuple(
        [
            Need(
                row["code"],
                row["target"],
                row["runtime"] == "Interpreter",
                row["runtime"].endswith("linked"),
                row["kind"] == "declared",
                tuple(row["needed"].split(",")),
                row["when"] == "not compiled",
                row["when"] == "each version",
                tuple([abi for abi in row["abis"].split(",") if abi]),
                row["phones"] == "all",
            )
            for row in rows
        ]
    )


NEEDS = _needs()
"""All needs, those of one target one after another."""
CODES: Mapping[str, Explanation] = {
    code: Explanation(**texts) for code, texts in json.loads(pkgutil.get_data(__package__, "codes.json") or b"").items()
}
"""The explanations of needs and of facts that the file of an application does not show."""
HTP_VERSIONS: Mapping[str, frozenset[str]] = {
    "V68": frozenset({"SM8350", "SM8350P", "SM7350", "SM7325", "SM7315", "QCM6490", "SA8295"}),
    "V69": frozenset({"SM8475", "SM8450", "SM7475", "SM7450", "SM7425", "SXR2230P", "SXR2250P"}),
    "V73": frozenset(
        {
            *("SM8550", "SM8635", "SM7675", "SM7550", "SM7435", "SM6450", "SC8380XP", "QCM8550LA", "QCM8550LE", "QCM6690"),
            *("QCS6690", "QCS9075", "QCS9100", "SA8255", "SAR2130P", "SSG2115P", "SSG2125P", "SXR1230P"),
        }
    ),
    "V75": frozenset({"SM8650", "QCS8275", "QCS8300", "QCS8625"}),
    "V79": frozenset({"SM8750", "SXR2330P"}),
    "V81": frozenset({"SM8850", "SM8845", "SM8845P", "SC8480XP", "SAR2230P", "SW6100"}),
}
"""The SoCs of each version of Qualcomm's HTP (``litert/vendors/qualcomm/supported_soc.csv``)."""
