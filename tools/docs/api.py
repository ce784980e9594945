"""Print docs/api.md: the Python interface, from the docstrings (``make docs``).

The sources of the results are read, not imported: a page is the same on every Python.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from delegate_sim.foundation.columns import schema_of

ROOT = Path(__file__).resolve().parents[2] / "delegate_sim"

FUNCTIONS = tuple([f"api/{name}.py" for name in ("load", "analyze", "engines", "diagnose", "compare", "fix", "sweep", "check")])
ERRORS = "errors.py"
CLASSES = (
    ("results/report/report.py", ("Report",)),
    ("results/report/placement.py", ("NodeRefusal", "NodeOnCpu", "RunPartition")),
    ("runtime/run.py", ("Run",)),
    ("refusal.py", ("Refusal",)),
    ("results/report/measures.py", ("Measures",)),
    ("diagnosis/diagnosis.py", ("Diagnosis",)),
    ("diagnosis/ranking.py", ("RankedCause",)),
    ("diagnosis/examiner.py", ("Cost",)),
    ("diagnosis/causes/cause.py", ("Cause",)),
    ("results/compare/comparison.py", ("Comparison", "Side", "ComparedNode", "State")),
    ("fixing/fix.py", ("Fixed",)),
    ("fixing/search.py", ("FixPlan", "Conflict")),
    ("fixing/descent.py", ("FixStep", "Trial")),
    ("fixing/score.py", ("Standing",)),
    ("inference/difference.py", ("Difference", "TensorDifference", "Latency", "EdgeDifference")),
    ("sweeping/sweep_result.py", ("Swept",)),
    ("runtime/target.py", ("LabeledTarget",)),
    ("sweeping/rows.py", ("SweepRow", "Origin")),
    ("conversion/convert.py", ("Conversion", "Failure")),
    ("gate/check.py", ("Checked", "Update")),
    ("gate/results.py", ("Results", "Case")),
    ("results/report/findings.py", ("Finding", "Location")),
    ("device/compare/reconcile.py", ("Reconciliation",)),
    ("device/compare/observed_delegation.py", ("Tally",)),
    ("device/compare/trial_simulations.py", ("Account",)),
    ("device/compare/trial_simulations.py", ("CpuNode",)),
)
"""The classes that functions return, and those of their fields."""
MORE_ERRORS = (
    ("gate/configuration.py", ("ConfigurationError",)),
    ("gate/baseline_content.py", ("BaselineError",)),
    ("device/parse/log_contents.py", ("LogError", "ReconcileError", "UnknownDelegateError")),
)

_HEAD = """\
# The Python interface

```python
import delegate_sim
```

This page is the reference for people who write Python. It is generated from the docstrings (`make docs`). Every error is a
`DelegateSimError`, whose text says in one line what is wrong and which values are possible.

- `ModelLike` is a model that `load` returns, the path of a model, or the bytes of a model.
- `NodeLike` is the index of a node in the first subgraph, or a pair (subgraph, index).
- `DelegatesLike` is the name of a delegate, or a list of names or pairs (name, options).
- `PathsLike` is a path, or a list of paths.

Every result has a `repr` of one line. A notebook shows a result as a table. If pandas is installed, `to_pandas()` returns the
first table of a result as a data frame, and `to_pandas(NAME)` returns another table.
"""

_TABLES = """\
## Tables

| result | tables of `to_pandas` |
|---|---|
| `Report` | `nodes`, `partitions`, `runs`, `on_cpu` (nodes on the CPU by operator and reason); for a chain also `placement` |
| `Diagnosis` | `causes`, and the tables of a report |
| `Comparison` | `nodes` (nodes that differ), `runs` |
| `Swept` | `rows` (a row for each conversion), `targets` (a row for each conversion and target) |
| `Checked`, `Results` | `cases`, `findings` |
| `Reconciliation` | `nodes` (nodes that ran on the device's CPU), `tally` |
| `MicroReport` | `nodes` |
| `BackendReport` | `replacements` (the nodes that delegates replace) |
"""


def page() -> str:
    """Return the page as Markdown."""
    every = [node for path in FUNCTIONS for node in _tree(path).body if isinstance(node, ast.FunctionDef)]
    functions = [node for node in every if not node.name.startswith("_")]
    parts = [_HEAD, "## Functions\n", *[_function(node, "###") for node in functions], _TABLES, "## Results\n"]
    parts += [_class(node) for path, names in CLASSES for node in _classes(path, names)]
    rows = [f"| `{node.name}` | {_one_line(node)} |" for node in _classes(ERRORS, None)]
    rows += [
        f"| `{_place(path)}.{node.name}` | {_one_line(node)} |" for path, names in MORE_ERRORS for node in _classes(path, names)
    ]
    parts += ["## Errors\n", "\n".join(["| error | when |", "|---|---|", *rows]) + "\n"]
    return "\n".join(parts)


def _tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def _classes(path: str, names: tuple[str, ...] | None) -> list[ast.ClassDef]:
    classes = {node.name: node for node in _tree(path).body if isinstance(node, ast.ClassDef)}
    return [classes[name] for name in (classes if names is None else names)]


def _function(node: ast.FunctionDef, heading: str) -> str:
    return f"{heading} {node.name}\n\n```python\n{_signature(node)}\n```\n\n{_paragraphs(node)}\n"


def _signature(node: ast.FunctionDef) -> str:
    """Return the signature, a line for each argument."""
    given = node.args
    defaults: list[ast.expr | None] = [*[None] * (len(given.args) - len(given.defaults)), *given.defaults]
    lines = [_argument(argument, default) for argument, default in zip(given.args, defaults, strict=True)]
    if given.kwonlyargs:
        lines.append("*")
    lines += [_argument(argument, default) for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return "\n".join([f"{node.name}(", *[f"    {line}," for line in lines], f"){returned}"])


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    return f"{argument.arg}{kind}" if default is None else f"{argument.arg}{kind} = {ast.unparse(default)}"


def _class(node: ast.ClassDef) -> str:
    rows = [f"| `{name}` | {_cell(kind, code=True)} | {_cell(text)} |" for name, kind, text in _members(node)]
    return "\n".join([f"### {node.name}", "", _paragraphs(node), "", "| attribute | type | |", "|---|---|---|", *rows, ""])


def _members(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Return fields, properties and methods that are public: name, type and docstring."""
    own = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
    declared = {ast.unparse(member.targets[0]): member.value for member in node.body if isinstance(member, ast.Assign)}
    is_declared = not {"Declared", "Shown"}.isdisjoint(map(ast.unparse, node.bases))
    if is_declared and "to_dict" not in own:
        document = declared.get("document")
        schema = f" (schema `{schema_of(ast.literal_eval(document))}`)" if document is not None else ""
        yield "to_dict()", "dict[str, Any]", f"Return the result as plain data{schema}."
    for number, member in enumerate(node.body):
        is_of_class = isinstance(member, ast.AnnAssign) and ast.unparse(member.annotation).startswith("ClassVar")
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name) and not is_of_class:
            after = node.body[number + 1] if number + 1 < len(node.body) else None
            value = after.value if isinstance(after, ast.Expr) else None
            text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
            yield member.target.id, ast.unparse(member.annotation), inspect.cleandoc(text)
        elif isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            returned = ast.unparse(member.returns) if member.returns else ""
            is_property = any("property" in ast.unparse(decorator) for decorator in member.decorator_list)
            yield (member.name if is_property else f"{member.name}()"), returned, ast.get_docstring(member) or ""


def _paragraphs(node: ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").replace("``", "`")


def _place(path: str) -> str:
    return f"delegate_sim.{path.removesuffix('.py').replace('/', '.')}"


def _one_line(node: ast.ClassDef) -> str:
    return _cell(ast.get_docstring(node) or "")


def _cell(text: str, *, code: bool = False) -> str:
    text = " ".join(text.split()).replace("``", "`")
    return f"`{text}`".replace("|", "\\|") if code and text else text.replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
