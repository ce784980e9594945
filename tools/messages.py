"""Check that code outside the writers does not inspect the text of messages.

Refusals, changes and results hold values. Sentences are made from them in the writers, and no code decides something by reading a
sentence back. ``python -m tools.messages`` (``make lint``) prints each place that does.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("delegate_sim", "cli")
TEXTS = frozenset({"message", "hint", "change", "found", "needed", "title", "outcome", "suggestion", "statement", "note"})
"""Names of fields and variables that hold a sentence, or a part of one."""
_LISTS = frozenset({f"{name}s" for name in TEXTS if name != "change"})
"""Names of fields and variables that hold several texts. ``changes`` are changes of a node, or of the model."""
_COMPARED = frozenset({"message", "hint", "change", "found", "needed"})
"""Names of fields that are not compared with other texts either. The other fields may have codes."""
_WRITERS = ROOT / "cli" / "text"
_METHODS = frozenset(
    {"partition", "rpartition", "split", "rsplit", "count", "startswith", "endswith", "find", "rfind", "index"}
    | {"removeprefix", "removesuffix", "replace", "strip", "lstrip", "rstrip"}
)
_REGULAR_EXPRESSIONS = frozenset({"match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inspected_texts(tree: ast.AST, *, is_writer: bool = False) -> Iterator[ast.expr]:
    """Yield the expressions in a module that inspect the text of a message, directly or through a local variable.

    A writer may compare two texts, and leave out the second if they are equal.
    """
    for scope in [tree, *[node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]]:
        texts = _local_texts(scope)
        for node in _own_nodes(scope):
            if isinstance(node, ast.expr) and any(_is_text(part, texts) for part in _inspected(node, is_writer)):
                yield node


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without the nodes of functions in it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _FUNCTIONS):
            yield from _own_nodes(child)


def _local_texts(scope: ast.AST) -> frozenset[str]:
    """Return the names of local variables that hold a text."""
    names: set[str] = set()
    for node in _own_nodes(scope):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign) and _is_text(node.value, frozenset(names)):
            targets = node.targets
        elif isinstance(node, (ast.For, ast.comprehension)) and _name(node.iter) in _LISTS:
            targets = [node.target]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(names)


def _name(node: ast.expr) -> str:
    """Return the name of a variable or a field, or an empty text for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr, texts: frozenset[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS
    if isinstance(node, ast.Name):
        return node.id in TEXTS or node.id in texts
    if isinstance(node, ast.BoolOp):
        return any(_is_text(value, texts) for value in node.values)
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(value, ast.FormattedValue) and _is_text(value.value, texts) for value in node.values)
    return False


def _inspected(node: ast.expr, is_writer: bool) -> Iterator[ast.expr]:
    """Yield the expressions whose text an expression inspects."""
    if isinstance(node, ast.Compare):
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, (ast.In, ast.NotIn)):
                yield right
            elif isinstance(operator, (ast.Eq, ast.NotEq)) and not is_writer:
                yield from [side for side in (node.left, right) if isinstance(side, ast.Attribute) and side.attr in _COMPARED]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _METHODS:
            yield node.func.value
        if node.func.attr in _REGULAR_EXPRESSIONS:
            yield from node.args


def main() -> int:
    """Print each place that inspects a text. Return 1 if there is one, otherwise 0."""
    problems = [
        f"{path.relative_to(ROOT)}:{node.lineno}: inspects a text: {ast.unparse(node)}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in inspected_texts(ast.parse(path.read_text(encoding="utf-8")), is_writer=path.is_relative_to(_WRITERS))
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
