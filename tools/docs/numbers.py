"""Write the table of conditions in docs/numbers.md (``make docs``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from delegate_sim.delegates.mldrift.numbers import RULES
from delegate_sim.delegates.mldrift.numbers.rule import NumberRule
from tools.docs.sections import with_section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "numbers.md"


def page(text: str) -> str:
    """Return the page with its table as the code has it."""
    return with_section(text, "conditions", "\n".join(_rows()))


def _rows() -> Iterator[str]:
    yield "| code | condition | what comes out | what to do | certainty |"
    yield "|---|---|---|---|---|"
    for rule in RULES:
        yield f"| `{rule.name}` | {rule.condition} | {rule.result} | {rule.cure} | {_certainty(rule)} |"


def _certainty(rule: NumberRule) -> str:
    certainty = "may be wrong" if rule.depends_on_values else "wrong"
    backend = "" if rule.is_before_backend else "; seen on WebGPU"
    return f"{certainty}{backend}{'' if rule.fixed_in is None else f'; until {rule.fixed_in}'}"


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
