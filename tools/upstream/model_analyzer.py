"""Compare TensorFlow's model analyzer with what the GPU delegate does: the table of docs/appendix/analyzer.md.

Run by ``make peers``, which first makes an environment with TensorFlow for each of ``VERSIONS``; with ``--write`` the table
in that page is replaced.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import delegate_sim
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "appendix" / "analyzer.md"
VERSIONS = ("2.17.1", "2.20.0")
"""Releases of TensorFlow: the last whose analyzer still looked at operators, and a later one."""
MODELS = (
    "activations",
    "arithmetic",
    "convolutions",
    "float16_weights",
    "int64_tensor",
    "mobilenet_block",
    "pooling",
    "quantized_block",
    "reshaping",
    "transformer_block",
)
_ANALYZE = """
import sys
import tensorflow as tf
from tools.docs.sections import with_section
for path in sys.argv[1:]:
    print(chr(1) + path)
    tf.lite.experimental.Analyzer.analyze(model_path=path, gpu_compatibility=True)
"""


class Ours(NamedTuple):
    """The nodes that the delegate takes of a model by default, and those it would take without its limit."""

    nodes: int
    supported: int
    delegated: int
    outcome: str


def environment(version: str) -> Path:
    """Return the Python of the environment that holds this release of TensorFlow."""
    return ROOT / f".venv-tensorflow-{version}" / "bin" / "python"


def ours(path: Path) -> Ours:
    """Apply the GPU delegate with the defaults of its own options."""
    run = delegate_sim.analyze(path, "gpu", defaults="api").to_dict()["runs"][0]
    totals = [sum(graph[key] for graph in run["subgraphs"]) for key in ("nodes_total", "nodes_supported", "nodes_delegated")]
    return Ours(totals[0], totals[1], totals[2], run["outcome"])


def theirs(version: str, paths: list[Path]) -> dict[str, str]:
    """Ask TensorFlow's analyzer about each model: ``compatible``, or how many nodes it warns of."""
    command = [str(environment(version)), "-c", _ANALYZE, *map(str, paths)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    answers = {}
    for block in printed.split("\1")[1:]:
        path, _, said = block.partition("\n")
        warned = [node for nodes in re.findall(r"compatibility issues at nodes ([\d, ]+)", said) for node in nodes.split(",")]
        answers[Path(path).stem] = f"warns of {len(warned)} node{'' if len(warned) == 1 else 's'}" if warned else "compatible"
    return answers


def table() -> str:
    """Return the comparison as a Markdown table."""
    paths = [ROOT / "fixtures" / "models" / f"{name}.tflite" for name in MODELS]
    answers = [theirs(version, paths) for version in VERSIONS]
    heads = " | ".join(f"analyzer of TensorFlow {version}" for version in VERSIONS)
    lines = [
        f"| model | nodes | taken by the delegate | delegated by default | outcome | {heads} |",
        "|---|---|---|---|---|" + "---|" * len(VERSIONS),
    ]
    for path in paths:
        own = ours(path)
        said = " | ".join(answer[path.stem] for answer in answers)
        lines.append(f"| {path.stem} | {own.nodes} | {own.supported} | {own.delegated} | {own.outcome} | {said} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, or put it into its page."""
    made = table()
    if "--write" not in sys.argv[1:]:
        print(made)
        return
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), "peers", made), encoding="utf-8")


if __name__ == "__main__":
    main()
