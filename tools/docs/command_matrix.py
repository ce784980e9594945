"""Write the matrix of commands and kinds of targets in docs/targets.md (``make docs``).

Each cell has the arguments of a run. ``tests/tools/docs/test_command_matrix.py`` runs all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

KINDS = {
    "delegate": "delegate",
    "chain": "chain of delegates",
    "compiled_model": "CompiledModel",
    "micro": "TensorFlow Lite Micro",
    "bundle": "LiteRT-LM bundle",
    "live": "real delegate",
}
"""The title of each kind of target."""


class Cell(NamedTuple):
    """The arguments of a run of a command, and what the command takes, or why it does not take this kind of target."""

    arguments: str
    takes: str = "yes"
    gap: str = ""


def _gap(arguments: str, reason: str) -> Cell:
    return Cell(arguments, "no", reason)


_MODELS = "its models"
_NNAPI, _CHAIN, _STACK = "--delegate nnapi", "--delegate gpu --chain", "--accelerators gpu,cpu"
_VELA = "--delegate ethos-u55-128"
_ONE_BY_ONE = "Name one delegate of the chain: the command looks at each delegate alone."
_ONE_ACCELERATOR = (
    "Name the delegate of an accelerator, such as `mldrift` or `npu-google`; `analyze` shows the whole CompiledModel."
)
_SIMULATES = "The command simulates changed models or releases, and a vendor's closed compiler is not simulated."

MATRIX: Mapping[str, Mapping[str, Cell]] = {
    "analyze": {
        "delegate": Cell(f"model.tflite {_NNAPI}"),
        "chain": Cell("model.tflite --delegate gpu --delegate xnnpack --chain"),
        "compiled_model": Cell(f"model.tflite {_STACK}"),
        "micro": Cell("model.tflite --micro"),
        "bundle": Cell("llm.litertlm"),
        "live": Cell(f"model.tflite {_VELA} --live"),
    },
    "diagnose": {
        "delegate": Cell(f"model.tflite {_NNAPI}"),
        "chain": _gap(f"model.tflite {_CHAIN}", _ONE_BY_ONE),
        "compiled_model": _gap(f"model.tflite {_STACK}", _ONE_ACCELERATOR),
        "micro": Cell("model.tflite --micro"),
        "bundle": Cell("llm.litertlm --delegate mldrift", _MODELS),
        "live": _gap(f"model.tflite {_VELA}", _SIMULATES),
    },
    "compare": {
        "delegate": Cell(f"model.tflite {_NNAPI} --with delegate=gpu"),
        "chain": _gap(f"model.tflite other.tflite {_CHAIN}", _ONE_BY_ONE),
        "compiled_model": _gap(f"model.tflite other.tflite {_STACK}", _ONE_ACCELERATOR),
        "micro": Cell("model.tflite other.tflite --micro"),
        "bundle": Cell("llm.litertlm --delegate mldrift --with delegate=xnnpack", _MODELS),
        "live": Cell(f"model.tflite {_VELA} --with delegate=teflon"),
    },
    "whatif": {
        "delegate": Cell(f"model.tflite {_NNAPI} --batch 2"),
        "chain": _gap(f"model.tflite {_CHAIN} --batch 2", _ONE_BY_ONE),
        "compiled_model": _gap(f"model.tflite {_STACK} --batch 2", _ONE_ACCELERATOR),
        "micro": Cell("model.tflite --micro --batch 2"),
        "bundle": Cell("llm.litertlm --delegate mldrift --batch 2", _MODELS),
        "live": _gap(f"model.tflite {_VELA} --batch 2", _SIMULATES),
    },
    "fix": {
        "delegate": Cell(f"model.tflite {_NNAPI} --plan"),
        "chain": _gap(f"model.tflite {_CHAIN} --plan", _ONE_BY_ONE),
        "compiled_model": _gap(f"model.tflite {_STACK} --plan", _ONE_ACCELERATOR),
        "micro": Cell("model.tflite --micro --plan"),
        "bundle": Cell("llm.litertlm --delegate mldrift --plan"),
        "live": _gap(f"model.tflite {_VELA} --plan", _SIMULATES),
    },
    "verify": {
        "delegate": _gap(f"model.tflite {_NNAPI}", "Numbers are computed by real code: `--on` names a delegate that runs here."),
        "chain": _gap(f"model.tflite {_CHAIN}", "Numbers are computed by one delegate and by the reference kernels."),
        "compiled_model": _gap(f"model.tflite {_STACK}", "`--on mldrift` runs the GPU of CompiledModel alone."),
        "micro": _gap("model.tflite --micro", "The kernels of TensorFlow Lite Micro are not run."),
        "bundle": Cell("llm.litertlm!/tf_lite_embedder llm.litertlm!/tf_lite_embedder", _MODELS),
        "live": Cell("model.tflite --on xnnpack"),
    },
    "report": {
        "delegate": Cell(f"model.tflite {_NNAPI} -o page.html"),
        "chain": _gap(f"model.tflite {_CHAIN} -o page.html", "A view of the page has the graph of one delegate."),
        "compiled_model": _gap(f"model.tflite {_STACK} -o page.html", "`--soc` adds a view of the NPU, `--delegate` of the GPU."),
        "micro": Cell("model.tflite --micro -o page.html"),
        "bundle": Cell("llm.litertlm --delegate mldrift --no-causes -o page.html", _MODELS),
        "live": Cell(f"model.tflite {_VELA} -o page.html"),
    },
    "export": {
        "delegate": Cell(f"dot model.tflite {_NNAPI}"),
        "chain": _gap(f"dot model.tflite {_CHAIN}", "A file has the graph of one delegate."),
        "compiled_model": _gap(f"dot model.tflite {_STACK}", "A file has the graph of one delegate."),
        "micro": Cell("dot model.tflite --micro"),
        "bundle": Cell("models llm.litertlm -o parts"),
        "live": _gap(f"dot model.tflite {_VELA}", "`report` and `scan` write the decisions of a real compiler."),
    },
    "micro": {
        "delegate": _gap(f"model.tflite {_NNAPI}", "TensorFlow Lite Micro has no delegates."),
        "chain": _gap(f"model.tflite {_CHAIN}", "TensorFlow Lite Micro has no delegates."),
        "compiled_model": _gap(f"model.tflite {_STACK}", "TensorFlow Lite Micro has no CompiledModel."),
        "micro": Cell("model.tflite"),
        "bundle": Cell("llm.litertlm", _MODELS),
        "live": _gap("model.tflite --live", "The runtime is not run."),
    },
    "releases": {
        "delegate": Cell(f"model.tflite {_NNAPI}"),
        "chain": _gap(f"model.tflite {_CHAIN}", _ONE_BY_ONE),
        "compiled_model": _gap(f"model.tflite {_STACK}", _ONE_ACCELERATOR),
        "micro": _gap("model.tflite --micro", "TensorFlow Lite Micro has no releases, and the rules of one copy are known."),
        "bundle": Cell("llm.litertlm --delegate mldrift", _MODELS),
        "live": _gap(f"model.tflite {_VELA}", _SIMULATES),
    },
    "reconcile": {
        "delegate": Cell("model.tflite --log device.log"),
        "chain": _gap(f"model.tflite --log device.log {_CHAIN}", "The log itself says which delegates were applied."),
        "compiled_model": Cell(f"model.tflite --log device.log {_STACK}"),
        "micro": _gap("model.tflite --log device.log --micro", "The runtime logs no nodes; `explain --log` explains its errors."),
        "bundle": Cell("llm.litertlm!/tf_lite_embedder --log device.log --delegate mldrift", _MODELS),
        "live": _gap("model.tflite --log device.log --live", "`analyze --live` compares a run on this computer."),
    },
    "scan": {
        "delegate": Cell(f"model.tflite {_NNAPI} --processes 1 -o scan.csv"),
        "chain": _gap(f"model.tflite {_CHAIN} -o scan.csv", "A row of the table is of one delegate."),
        "compiled_model": _gap(f"model.tflite {_STACK} -o scan.csv", "A row of the table is of one delegate."),
        "micro": Cell("model.tflite --micro --processes 1 -o scan.csv"),
        "bundle": Cell("llm.litertlm --delegate mldrift --processes 1 -o scan.csv", _MODELS),
        "live": Cell(f"model.tflite {_VELA} --processes 1 -o scan.csv"),
    },
    "check": {
        "delegate": Cell("--config delegate.toml --update"),
        "chain": _gap("--config chain.toml", "A baseline entry is of one delegate."),
        "compiled_model": _gap("--config accelerators.toml", "A baseline entry is of one delegate."),
        "micro": Cell("--config micro.toml"),
        "bundle": _gap("--config bundle.toml", "A configuration names model files: `export models` writes those of a bundle."),
        "live": Cell("--config delegate.toml --live"),
    },
    "rules": {
        "delegate": Cell(f"{_NNAPI} --op ADD"),
        "chain": _gap(f"{_CHAIN} --op ADD", "Each delegate has its own rules."),
        "compiled_model": _gap(f"{_STACK} --op ADD", "The rules are those of the delegates `mldrift`, `xnnpack` and `npu-...`."),
        "micro": Cell("--micro --op ADD"),
        "bundle": _gap("llm.litertlm", "The engine has no rules of operators; the delegates of its models have."),
        "live": _gap(f"{_VELA} --op ADD", "The rules of a vendor's closed compiler are not known."),
    },
    "inspect": {
        "delegate": Cell("model.tflite"),
        "chain": _gap(f"model.tflite {_CHAIN}", "All delegates see the same graph at first."),
        "compiled_model": _gap(f"model.tflite {_STACK}", "All accelerators see the same graph at first."),
        "micro": _gap("model.tflite --micro", "TensorFlow Lite Micro sees the shapes in the file (`--file-shapes`)."),
        "bundle": Cell("llm.litertlm"),
        "live": _gap("model.tflite --live", "No delegate is run."),
    },
}
"""The cells, by command and kind of target. ``sweep`` takes the targets of ``whatif``; it is not run, since it needs a converter.

``reduce`` takes a failure, and the other commands take no target: ``query``, ``init``, ``explain``, ``doctor`` and ``mcp``.
"""


def matrix_rows() -> Iterator[str]:
    """Yield the lines of both tables: the matrix, and the reasons for its gaps."""
    yield f"| command | {' | '.join(KINDS.values())} |"
    yield f"|---|{'---|' * len(KINDS)}"
    for command, cells in MATRIX.items():
        yield f"| `{command}` | {' | '.join([cells[kind].takes for kind in KINDS])} |"
    yield from ("", "| command | not taken | why, and what to do instead |", "|---|---|---|")
    for command, cells in MATRIX.items():
        for kind, title in KINDS.items():
            if cells[kind].gap:
                yield f"| `{command}` | {title} | {cells[kind].gap} |"
