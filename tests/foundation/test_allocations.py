"""Lists, arrays and loops whose length is a number are bounded, or say why they need not be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "delegate_sim").rglob("*.py"), *(ROOT / "cli").rglob("*.py")])
EXCUSE = "# bounded: "
MOST_EXCUSES = 45
BOUNDS = frozenset({"bounded", "_small", "len", "bool"})
"""Functions whose results are bounded, or count what is in memory already."""
COUNTS = frozenset({"rank", "ndim", "input_count", "output_count"})
"""Names and attributes that count what is in memory already: dimensions and operands."""
ARRAYS = frozenset({"arange", "empty", "eye", "full", "indices", "linspace", "ones", "pad", "repeat", "resize", "tile", "zeros"})
BUFFERS = frozenset({"content", "header", "piece", "source", "view", "part", "data", "self"})
"""Names of what has bytes already, in ``bytes(content)``."""


def is_bounded(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.Compare():
            return True
        case ast.Call(func=ast.Name(id=name), args=arguments):
            if name in ("min", "max"):
                return (any if name == "min" else all)(map(is_bounded, arguments))
            return name in BOUNDS
        case ast.Attribute(attr=name):
            return name in COUNTS or name.isupper()
        case ast.Name(id=name):
            return name in COUNTS or name.isupper()
        case ast.BinOp(left=left, right=right):
            return is_bounded(left) and is_bounded(right)
        case ast.UnaryOp(operand=operand):
            return is_bounded(operand)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(map(is_bounded, elements))
        case ast.BoolOp(values=values):
            return all(map(is_bounded, values))
        case ast.IfExp(body=body, orelse=other):
            return is_bounded(body) and is_bounded(other)
    return False


def is_sequence(node: ast.expr) -> bool:
    is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
    return is_text or isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def has_bytes(node: ast.expr) -> bool:
    """Return whether the argument of ``bytes`` is something that has bytes, such as a slice, and no number."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.lstrip("_") in BUFFERS or isinstance(
        node, ast.Subscript | ast.BoolOp | ast.GeneratorExp | ast.ListComp | ast.List
    )


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def allocates(node: ast.AST) -> bool:
    """Return whether a node makes a list, array or loop whose length is a number that is not bounded."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[first, *others]):
            stop = [first, others[0]] if len(others) > 1 else (others or [first])  # a step does not add to the length
            return not all(map(is_bounded, stop))
        case ast.Call(func=ast.Name(id="bytes" | "bytearray"), args=[argument, *_]):
            return not has_bytes(argument) and not is_bounded(argument)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="itertools"), attr="repeat"), args=[_, count]):
            return not is_bounded(count)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=arguments):
            return name in ARRAYS and not all(
                map(is_bounded, arguments[:2] if name in ("pad", "repeat", "resize", "tile") else arguments[:1])
            )
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math" | "np"), attr="prod")):
            return True
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return (is_sequence(left) and not is_bounded(right)) or (is_sequence(right) and not is_bounded(left))
    return False


def sites(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield line, text and whether it is excused, of each place that allocates by a number."""
    lines = text.splitlines()
    tree = ast.parse(text)
    lengths = {id(call.args[0]) for call in ast.walk(tree) if isinstance(call, ast.Call) and is_name(call.func, "len")}
    lengths |= {id(node.operand) for node in ast.walk(tree) if isinstance(node, ast.UnaryOp)}  # whether a range is empty
    for number in sorted({node.lineno for node in ast.walk(tree) if allocates(node) and id(node) not in lengths}):
        near = lines[max(number - 2, 0) : number]
        yield number, lines[number - 1].strip(), EXCUSE in near[-1] or near[0].strip().startswith(EXCUSE)


def test_what_allocates_by_a_number_is_bounded():
    found = [(path, *site) for path in SOURCES for site in sites(path.read_text("utf-8"))]
    unexcused = [f"{path.relative_to(ROOT)}:{line}: {text}" for path, line, text, is_excused in found if not is_excused]
    assert not unexcused, "\n".join(unexcused)
    assert sum([path.read_text("utf-8").count(EXCUSE) for path in SOURCES]) == len(found) <= MOST_EXCUSES


@pytest.mark.parametrize(
    "line",
    [
        "x = [0] * count",
        "x = count * b'0'",
        "x = range(shape[0])",
        "x = np.zeros(shape)",
        "x = np.tile(array, times)",
        "x = bytes(count)",
        "x = itertools.repeat(0, count)",
        "x = math.prod(shape)",
    ],
)
def test_a_new_place_is_noticed(line):
    assert [is_excused for *_, is_excused in sites(line)] == [False]
    assert [is_excused for *_, is_excused in sites(f"{line}  {EXCUSE}the reader limits it")] == [True]
    assert [is_excused for *_, is_excused in sites(f"{EXCUSE}the reader limits it\n{line}")] == [True]


@pytest.mark.parametrize(
    "line",
    [
        "x = [0] * bounded(count, 'numbers')",
        "x = range(len(items))",
        "x = [1] * tensor.rank",
        "x = len(range(first, last))",
        "x = bytes(content[a:b])",
    ],
)
def test_a_bounded_place_needs_no_excuse(line):
    assert not list(sites(line))
