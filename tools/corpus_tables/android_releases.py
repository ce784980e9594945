"""Write docs/appendix/android-releases.md: what Android's NNAPI runtime does to models that the delegate takes whole.

Run by ``make android-releases``, over the models of ``docs/appendix/model-types.md``.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import delegate_sim
from delegate_sim.delegates.nnapi.options import NO_RUNTIME, highest_level
from delegate_sim.model.model import Model
from delegate_sim.nnapi_runtime.types import AndroidRelease
from tools.corpus_tables.model_types import DEFAULTS, MODEL_TYPES, MODELS, PROVENANCE, ROOT, read_corpus
from tools.docs.sections import with_section

PAGE = ROOT / "docs" / "appendix" / "android-releases.md"
RELEASES = tuple(AndroidRelease)
_CONVERTER = re.compile(r"\.tf(\d)(\d+)\b")


class Counts(NamedTuple):
    """Count models that the delegate takes whole at a release's feature level, and those that its runtime accepts."""

    whole: int
    accepted: int


def converter_of(name: str) -> str:
    """Return the converter that made a file, by the file's name: ``resnet50.int8.tf221.tflite`` is TensorFlow 2.21's."""
    match = _CONVERTER.search(name)
    return f"TensorFlow {match[1]}.{match[2]}" if match else "others"


def is_whole(model: Model, options: dict[str, Any]) -> bool:
    """Tell whether all nodes of a model are delegated."""
    run = delegate_sim.analyze(model, "nnapi", options, defaults=DEFAULTS).runs[0]
    nodes = sum(len(subgraph.graph.execution_plan) for subgraph in run.subgraphs)
    return run.outcome == "delegated" and 0 < nodes == sum(len(subgraph.delegated) for subgraph in run.subgraphs)


def counted(model: Model, android: AndroidRelease) -> Counts:
    """Apply the delegate alone, and then with the runtime behind it, at the feature level of an Android release."""
    if not is_whole(model, {"nnapi_runtime": NO_RUNTIME, "feature_level": highest_level(android)}):
        return Counts(0, 0)
    return Counts(1, int(is_whole(model, {"nnapi_runtime": str(int(android))})))


def table() -> Iterator[str]:
    """Return the lines of the table: a row for each converter and type, a cell for each release."""
    corpus = read_corpus()
    rows: dict[tuple[str, str], list[list[Counts]]] = defaultdict(list)
    for kind in MODEL_TYPES:
        for name, model in zip(corpus.names[kind], corpus.models[kind], strict=True):
            rows[converter_of(name), kind.name].append([counted(model, android) for android in RELEASES])
    yield f"| converter | type | models | {' | '.join(f'Android {int(android)}' for android in RELEASES)} |"
    yield "|---|---|---|" + "---|" * len(RELEASES)
    for (converter, kind_name), models in sorted(rows.items(), key=lambda row: row[0][0]):
        cells = [
            f"{sum(one[place].accepted for one in models)} of {sum(one[place].whole for one in models)}"
            for place in range(len(RELEASES))
        ]
        yield f"| {converter} | {kind_name} | {len(models)} | {' | '.join(cells)} |"


def main() -> int:
    """Write the table into its page."""
    for path in (MODELS, PROVENANCE):
        if not path.is_file():
            print(f"error: {path} is missing: the converted models are not part of this repository", file=sys.stderr)
            return 2
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_section(page, "android", "\n".join(table())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
