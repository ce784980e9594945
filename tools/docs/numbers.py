"""Write the tables of conditions in docs/numbers.md (``make docs``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from delegate_sim.delegates.gpu.numbers import RULES as GPU_RULES
from delegate_sim.delegates.mldrift.numbers import RULES
from delegate_sim.delegates.mldrift.numbers.rule import NumberRule
from tools.docs.sections import with_section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "numbers.md"


_HEADING = ("| code | condition | what comes out | what to do | {} |", "|---|---|---|---|---|")


def page(text: str) -> str:
    """Return the page with its tables as the code has them."""
    text = with_section(text, "conditions", "\n".join(_rows()))
    return with_section(text, "gpu-conditions", "\n".join(_gpu_rows()))


def _row(rule: NumberRule, last: str) -> str:
    return f"| `{rule.name}` | {rule.condition} | {rule.result} | {rule.cure} | {last} |"


def _rows() -> Iterator[str]:
    yield "\n".join(_HEADING).format("certainty")
    for rule in RULES:
        yield _row(rule, _certainty(rule))


def _gpu_rows() -> Iterator[str]:
    """Yield the names of the conditions whose texts are in the first table, and a table of the others."""
    texts = {(rule.name, rule.condition) for rule in RULES}
    backends: dict[NumberRule, list[str]] = {}
    for backend, rules in GPU_RULES.items():
        for rule in rules:
            known = next((other for other in backends if other.code == rule.code), rule)
            backends.setdefault(known, []).append(backend)
    shared = {rule: own for rule, own in backends.items() if (rule.name, rule.condition) in texts}
    for group in dict.fromkeys(map(tuple, shared.values())):
        names = ", ".join([f"`{rule.name}`" for rule, own in shared.items() if tuple(own) == group])
        yield f"- Conditions of the first table ({' and '.join(group)}): {names}"
    yield "\n" + "\n".join(_HEADING).format("backend")
    for rule, own in backends.items():
        if rule not in shared:
            yield _row(rule, f"{' and '.join(own)}{'' if rule.fixed_in is None else f'; until {rule.fixed_in}'}")


def _certainty(rule: NumberRule) -> str:
    certainty = "may be wrong" if rule.depends_on_values else "wrong"
    backend = f"; only {rule.only_on}" if rule.only_on else "" if rule.is_before_backend else "; seen on WebGPU"
    return f"{certainty}{backend}{'' if rule.fixed_in is None else f'; until {rule.fixed_in}'}"


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
