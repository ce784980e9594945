"""Rules of the compiler plugins: the checks of every operator, in the plugin's order.

``rules/table.py`` has a table with a row for each operator and a column for each plugin.
"""

from __future__ import annotations

from typing import Any

from ....rules.book import RuleBook, Unknown
from ....rules.rule import OpRule, op_rule
from ....rules.source import Source
from ..kinds import KINDS
from .checks import ANY as ANYTHING
from .checks import FILTERED, GOOGLE, INTEL, MEDIATEK, SAMSUNG, NpuTarget, column
from .table import TABLE

_UNKNOWN = Unknown("an operator that the plugin selects", problem="is not selected")


def _release(target: NpuTarget) -> Any:
    return target.release


def _book(
    plugin: str, source: Source, *, others: OpRule[NpuTarget] | None = None, refuses_custom: bool = False
) -> RuleBook[NpuTarget]:
    return RuleBook(
        f"npu-{plugin}",
        families=() if plugin == "samsung" else (column(TABLE, plugin),),
        kinds=KINDS,
        source=source,
        unknown=_UNKNOWN,
        unknown_custom=_UNKNOWN if refuses_custom else None,
        others=others,
        key=_release,
        reads_operands=False,
    )


BOOKS = {
    "google": _book("google", GOOGLE, others=op_rule(FILTERED).from_source(GOOGLE), refuses_custom=True),
    "intel": _book("intel", INTEL),
    "mediatek": _book("mediatek", MEDIATEK),
    "samsung": _book("samsung", SAMSUNG, others=ANYTHING.from_source(SAMSUNG)),
}
"""The rules of each plugin, by the name of the vendor."""
