"""A model whose names try to reach terminals, runners, browsers and readers of formats, and the program's output for it."""

from __future__ import annotations

from fixtures.builder import ModelBuilder

NAMES = (
    "\x1b[31mred\x1b]0;owned\x07\x1b[2J\x1b[?25l",
    "::error::owned",
    "\n::stop-commands::owned",
    "##[error]owned ##[add-mask]owned",
    "<script>owned()</script><img src=x onerror=owned()>",
    "[owned](https://owned.example) ![owned](x) | `owned` **owned** </details>",
    "=cmd|' /C owned'!A0",
    "\u202eowned\u2066 \u200b\ud7ff\r\x00\x9b31m",
    "]]><owned/>&owned;",
    "x" * 5_000 + "\x1b",
)

DELEGATE = ("--delegate", "nnapi")


def write_hostile_model():
    """Write the model into the current folder, and return its name."""
    builder = ModelBuilder(description=NAMES[0])
    for number, name in enumerate(NAMES):
        graph = builder.subgraph(name)
        source = graph.input(name, "FLOAT32", [1, 4])
        middle = graph.tensor(f"{name}{number}", "FLOAT32", [1, 4])
        graph.node("X", [source], [middle], custom=name)
        result = graph.tensor(name, "FLOAT32", [1, 4])
        graph.node("COS", [middle], [result], version=9)
        graph.outputs(result)
    builder.signature(NAMES[0], 0, {NAMES[1]: 0}, {NAMES[2]: 2})
    builder.metadata(NAMES[3], b"x")
    builder.write("hostile.tflite")
    return "hostile.tflite"


def rendered(run, model, form):
    result = run("analyze", model, *DELEGATE, "--assume-ops-registered", "--format", form)
    assert result.exit_code == 0
    assert "owned" in result.stdout
    return result.stdout
