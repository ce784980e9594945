"""Compare the two GPU delegates by operator and by type of model: the tables of ``docs/appendix/gpu-comparison.md``.

Simulates every model of archives of models (``--corpus``, by default those of ``../shared``) with both, as
``delegate-sim compare MODEL --delegate gpu --delegate mldrift`` does with one. Run by ``make gpu-comparison``; with ``--write``
the tables in the page are replaced.
"""

from __future__ import annotations

import argparse
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.errors import ModelError
from delegate_sim.model.model import Model
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.results.compare.comparison import Side, simulated_side
from delegate_sim.runtime.target import Target
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "appendix" / "gpu-comparison.md"
CORPUS = ROOT.parent / "shared" / "corpus"
ARCHIVES = ("real", "keras", "torch", "onnx")
_FEWEST = 10
"""The fewest nodes that move for an operator to be in the table."""


class NodePair(NamedTuple):
    """One node with both delegates: whether each accepts it, and the code of the first reason why one does not."""

    op: str
    older: bool
    newer: bool
    reason: str


class ModelPair(NamedTuple):
    """One model with both delegates; the older one comes first."""

    kind: str
    nodes: tuple[NodePair, ...]
    delegated: tuple[int, int]
    multiply_adds: tuple[int, int]
    all_multiply_adds: int
    outcomes: tuple[str, str]


def targets() -> tuple[Target, Target]:
    """Return the two delegates with their defaults."""
    delegates = [find_delegate(name) for name in ("gpu", "mldrift")]
    older, newer = (Target(one, parse_options(one.name, one.options, {}, "api"), NEWEST, "api") for one in delegates)
    return older, newer


def kind_of(model: Model) -> str:
    """Return the type of a model, by the types of its tensors."""
    tensors = [tensor for subgraph in model.subgraphs for tensor in subgraph.tensors]
    computed = Counter(tensor.type for tensor in tensors if tensor.data is None)
    stored = {tensor.type for tensor in tensors if tensor.data is not None and tensor.quantization is not None}
    if computed["INT16"] > computed["FLOAT32"]:
        return "16-bit activations"
    if computed["INT8"] + computed["UINT8"] > computed["FLOAT32"] + computed["FLOAT16"]:
        return "8-bit"
    if stored & {"INT8", "INT4", "INT2", "UINT8"}:
        return "float, integer weights"
    return "float, float16 weights" if any(tensor.type == "FLOAT16" for tensor in tensors) else "float"


def _pairs(older: Side, newer: Side) -> Iterator[NodePair]:
    for one, other in zip(older.run.subgraphs, newer.run.subgraphs, strict=True):
        if one.decision is None or other.decision is None:
            continue
        for index, verdict in one.decision.verdicts.items():
            second = other.decision.verdicts[index]
            node = one.graph.nodes[index]
            code = next((reason.code for one in (verdict, second) for reason in one.reasons), "")
            yield NodePair(node.op, verdict.is_supported, second.is_supported, code)


def compared(model: Model) -> ModelPair:
    """Simulate a model with both delegates."""
    older, newer = (simulated_side(model, target) for target in targets())
    return ModelPair(
        kind_of(model),
        tuple(_pairs(older, newer)),
        (older.measures.delegated_nodes, newer.measures.delegated_nodes),
        (older.compute.delegated_multiply_adds, newer.compute.delegated_multiply_adds),
        older.compute.multiply_adds,
        (older.run.outcome, newer.run.outcome),
    )


def models(corpus: Path) -> Iterator[tuple[str, Model]]:
    """Read every model of the archives that is one."""
    for archive_name in ARCHIVES:
        with zipfile.ZipFile(corpus / f"{archive_name}.zip") as archive:
            for name in archive.namelist():
                if name.endswith(".tflite"):
                    try:
                        yield name, delegate_sim.load(archive.read(name))
                    except ModelError:
                        continue


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *[f"| {' | '.join(map(str, row))} |" for row in rows]]


def _by_operator(pairs: Sequence[ModelPair]) -> list[str]:
    moved: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for node in pair.nodes:
            kept = "both" if node.older and node.newer else "neither"
            moved[node.op][kept if node.older == node.newer else "newer" if node.newer else "older"] += 1
            if node.older != node.newer:
                reasons[node.op][node.reason] += 1
    chosen = [op for op, counts in moved.items() if counts["newer"] + counts["older"] >= _FEWEST]
    rows = [
        (
            op,
            *(f"{moved[op][side]:,}" for side in ("both", "newer", "older", "neither")),
            ", ".join(f"`{code}` {count:,}" for code, count in reasons[op].most_common(2)),
        )
        for op in sorted(chosen, key=lambda op: (-moved[op]["newer"] - moved[op]["older"], op))
    ]
    return _table(("operator", "both", "only ML Drift", "only the older", "neither", "why one delegate refuses"), rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _by_kind(pairs: Sequence[ModelPair]) -> list[str]:
    by_kind: dict[str, list[ModelPair]] = defaultdict(list)
    for pair in pairs:
        by_kind[pair.kind].append(pair)
    return _table(
        (
            "type of model",
            "models",
            "nodes",
            "nodes on the older",
            "nodes on ML Drift",
            "multiply-adds on the older",
            "multiply-adds on ML Drift",
            "models with more nodes on ML Drift",
            "models with more nodes on the older",
        ),
        [_kind_row(kind, pairs) for kind, pairs in sorted(by_kind.items())],
    )


def _kind_row(kind: str, pairs: Sequence[ModelPair]) -> tuple[object, ...]:
    nodes = sum(len(pair.nodes) for pair in pairs)
    work = sum(pair.all_multiply_adds for pair in pairs)
    return (
        kind,
        f"{len(pairs):,}",
        f"{nodes:,}",
        *(_share(sum(pair.delegated[side] for pair in pairs), nodes) for side in (0, 1)),
        *(_share(sum(pair.multiply_adds[side] for pair in pairs), work) for side in (0, 1)),
        sum(pair.delegated[1] > pair.delegated[0] for pair in pairs),
        sum(pair.delegated[0] > pair.delegated[1] for pair in pairs),
    )


def _outcomes(pairs: Sequence[ModelPair]) -> list[str]:
    counts = Counter(pair.outcomes for pair in pairs)
    rows = [(older, newer, f"{count:,}") for (older, newer), count in counts.most_common()]
    return _table(("outcome with the older", "outcome with ML Drift", "models"), rows)


def tables(pairs: Sequence[ModelPair]) -> str:
    """Return the tables of the page."""
    nodes = [node for pair in pairs for node in pair.nodes]
    kept = Counter((node.older, node.newer) for node in nodes)
    total = (
        f"{len(pairs):,} models with {len(nodes):,} nodes: both delegates accept {kept[True, True]:,} nodes, only ML "
        f"Drift accepts {kept[False, True]:,}, only the older accepts {kept[True, False]:,}, and neither accepts "
        f"{kept[False, False]:,}."
    )
    return "\n".join(
        [
            total,
            "",
            "## By operator",
            "",
            *_by_operator(pairs),
            "",
            "## By type of model",
            "",
            *_by_kind(pairs),
            "",
            "## By outcome",
            "",
            *_outcomes(pairs),
        ]
    )


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of archives of models")
    parser.add_argument("--write", action="store_true", help=f"replace the tables in {DOCUMENT.name}")
    arguments = parser.parse_args()
    text = tables([compared(model) for _, model in models(arguments.corpus)])
    if not arguments.write:
        print(text)
        return
    DOCUMENT.write_text(with_section(DOCUMENT.read_text(encoding="utf-8"), "tables", text), encoding="utf-8")


if __name__ == "__main__":
    main()
