"""What rewriting a model gained, step by step, and how the rewritten model compares, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from delegate_sim.fixing.fix import Fixed
from delegate_sim.fixing.score import Standing
from delegate_sim.fixing.search import FixPlan, FixStep
from delegate_sim.results.words import words_of
from delegate_sim.version import __version__

from ..layout import counted, message, share, wrapped
from ..terminal import Line
from .inference import difference_lines
from .measures import measures_text

SCHEMA = "delegate-sim/fix/1"
_HEADING = "bold"
_BAD = "bold red"


def fix_lines(plan: FixPlan, fixed: Fixed | None, width: int, verbose: bool) -> Iterator[Line]:
    """Return the text: what it comes to, the passes, and the proof."""
    yield from _wrapped(_answer(plan, fixed), width, style=_HEADING)
    yield Line("")
    for before, after in zip(plan.before, plan.after, strict=True):
        yield from _wrapped(f"{before.target.delegate.name} on {before.target.release}", width, "  ", _HEADING)
        yield from _wrapped(f"before: {_numbers(before)}", width, "    ")
        if plan.is_changed:
            yield from _wrapped(f"after:  {_numbers(after)}", width, "    ")
    if plan.steps or plan.shapes:
        yield Line("")
        yield Line("Passes", _HEADING)
        graph = plan.model.subgraphs[0]
        for index, shape in plan.shapes.items():
            yield from _wrapped(f"shape of {message(graph.tensors[index].name)}: {list(shape)} (as asked)", width, "  ")
        for number, step in enumerate(plan.steps, 1):
            yield from _step_lines(number, step, width)
    if verbose and plan.rejected:
        yield Line("")
        yield Line("Tried and not kept", _HEADING)
        for trial in plan.rejected:
            verdict = "a target would be worse off" if trial.is_worse else "gains nothing"
            yield from _wrapped(f"{trial.name} ({trial.exactness.words}): {verdict}", width, "  ")
    if fixed is not None:
        yield Line("")
        if fixed.difference is None:
            yield Line("Not proven: the models were not run (--no-proof)", _BAD)
        else:
            yield from difference_lines(fixed.difference, width, verbose)


def _answer(plan: FixPlan, fixed: Fixed | None) -> str:
    tried = f"{counted(plan.simulations, 'simulation')}"
    if not plan.is_changed:
        more = "" if plan.allowed == 2 else "; --allow approximate tries more"
        return f"No pass makes the model better ({tried}){more}"
    if fixed is None or fixed.path is None:
        number = len(plan.steps)
        passes = "1 pass" if number == 1 else f"{number} passes"
        return f"{passes} would make the model better ({tried}); nothing is written"
    proof = "not proven"
    if fixed.difference is not None:
        proof = "computes the same, bit for bit" if fixed.difference.is_same else f"{plan.exactness.words}: see below"
    return f"Wrote {message(fixed.path)} ({fixed.size:,} bytes): {proof}"


def _numbers(standing: Standing) -> str:
    measures = standing.measures
    words = words_of(standing.target.delegate.name)
    text = f"{measures_text(measures, words)}, {counted(measures.border_bytes, 'byte')} across borders"
    if standing.total_multiply_adds:
        text += f", {share(standing.multiply_adds, standing.total_multiply_adds)} of {_count(standing.total_multiply_adds)} "
        text += f"multiply-adds {words.taken}"
    return text


def _count(number: int) -> str:
    return f"{number / 1e6:,.1f} million" if number >= 100_000 else f"{number:,}"


def _step_lines(number: int, step: FixStep, width: int) -> Iterator[Line]:
    yield from _wrapped(f"{number}. {step.name} ({step.exactness.words}), {counted(step.nodes, 'node')}", width, "  ")
    yield from _wrapped(step.does, width, "     ")
    for standing in step.standings:
        yield from _wrapped(f"{standing.target.delegate.name}: {_numbers(standing)}", width, "     ")


def _wrapped(text: str, width: int, indent: str = "", style: str = "") -> Iterator[Line]:
    yield from (Line(line, style) for line in wrapped(text, width, indent, indent + "  " if indent else ""))


def fix_entry(plan: FixPlan, fixed: Fixed | None) -> dict[str, Any]:
    """Return what was done as plain data (schema ``delegate-sim/fix/1``)."""
    graph = plan.model.subgraphs[0]
    return {
        "schema": SCHEMA,
        "delegate_sim": __version__,
        "model": plan.model.path,
        "written": None if fixed is None else fixed.path,
        "allowed": plan.allowed.name.lower(),
        "exactness": plan.exactness.name.lower(),
        "shapes": [{"input": graph.tensors[index].name, "shape": list(shape)} for index, shape in plan.shapes.items()],
        "targets": [
            {
                "delegate": before.target.delegate.name,
                "runtime": str(before.target.release),
                "before": _standing_entry(before),
                "after": _standing_entry(after),
            }
            for before, after in zip(plan.before, plan.after, strict=True)
        ],
        "passes": [
            {
                "name": step.name,
                "exactness": step.exactness.name.lower(),
                "nodes": step.nodes,
                "after": _standing_entries(step.standings),
            }
            for step in plan.steps
        ],
        "not_kept": [
            {"name": trial.name, "exactness": trial.exactness.name.lower(), "is_worse": trial.is_worse} for trial in plan.rejected
        ],
        "simulations": plan.simulations,
        "difference": None if fixed is None or fixed.difference is None else fixed.difference.to_dict(),
    }


def _standing_entries(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    return [_standing_entry(standing) for standing in standings]


def _standing_entry(standing: Standing) -> dict[str, Any]:
    return {
        **asdict(standing.measures),
        "multiply_adds": standing.multiply_adds,
        "total_multiply_adds": standing.total_multiply_adds,
    }
