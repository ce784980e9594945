"""Rules of Arm NN's delegate: for each operator, the delegate's own demands and the layers that the backends are asked for.

Source: ``ArmnnSubgraph::VisitNode`` (``delegate/classic/src/armnn_delegate.cpp``) and the file of each operator, as a table in
``operators.json``. It lists the steps of a visit in order: ``layer`` is a layer, with the line that asks for it and the name of
the question (``asks``), and ``checks.py`` has the other steps. The demands of the backends on layers are in ``steps.py`` and
``compute_library.py``. No rule looks at an operator's version.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from typing import Any

from ....rules.book import Policy, RuleBook, Unknown
from ..demands import CLASSIC, KINDS
from ..steps import ArmnnTarget, Layer, RuleStep, VisitRule, visited
from .checks import own_steps
from .questions import QUESTIONS, ask


def _layer(row: Mapping[str, Any], op: str, file: str) -> Layer:
    name, line = row["layer"].replace("*", op.lower()), row["line"]
    place = f"{row.get('at', file)}:{line[op] if isinstance(line, dict) else line}"
    question = QUESTIONS[row["asks"]] if "asks" in row else ask(*row.get("of", (0,)))
    return Layer(row.get("word", name.upper()), name, question, place, row.get("function", "operator()"))


def _rule(entry: Mapping[str, Any], op: str) -> VisitRule:
    file = entry["file"]
    steps: list[RuleStep] = []
    for row in entry["steps"]:
        steps += [_layer(row, op, file)] if "layer" in row else own_steps(row)
    return visited(file, entry.get("function", f"Visit{file.partition('.')[0]}Operator"), steps)


def _rules(*, is_custom: bool) -> Mapping[str, VisitRule]:
    table = json.loads(pkgutil.get_data(__package__, "operators.json") or b"")
    entries = [entry for entry in table if entry.get("is_custom", False) == is_custom]
    return {op: _rule(entry, op) for entry in entries for op in entry["operators"]}


RULES: RuleBook[ArmnnTarget] = RuleBook(
    "armnn",
    families=(_rules(is_custom=False),),
    custom=_rules(is_custom=True),
    kinds=KINDS,
    source=CLASSIC,
    unknown=Unknown("an operator that the delegate visits"),
    policy=Policy.ALL_FAILURES,
)
