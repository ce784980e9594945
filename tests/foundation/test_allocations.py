"""Lists, arrays and loops whose length is a number are bounded, or say why they need not be."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "delegate_sim").rglob("*.py"), *(ROOT / "cli").rglob("*.py")])
EXCUSE = "# bounded: "
MOST_EXCUSES = 72
BOUNDS = frozenset({"bounded", "_small", "len", "bool"})
"""Functions whose results are bounded, or count what is in memory already."""
COUNTS = frozenset({"rank", "ndim", "input_count", "output_count"})
"""Names and attributes that count what is in memory already: dimensions and operands."""
ARRAYS = {
    **dict.fromkeys(("empty", "full", "ones", "zeros"), ((0,), ("shape",))),
    "arange": ((0, 1, 2), ("start", "stop", "step")),
    "broadcast_to": ((1,), ("shape",)),
    "eye": ((0, 1), ("N", "M")),
    "indices": ((0,), ("dimensions",)),
    "linspace": ((2,), ("num",)),
    "pad": ((1,), ("pad_width",)),
    "repeat": ((1,), ("repeats",)),
    "resize": ((1,), ("new_shape",)),
    "tile": ((1,), ("reps",)),
}
"""The arguments of numpy functions that give the length of the result, which for ``broadcast_to`` counts once it is copied."""
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
        case ast.BinOp(op=ast.Mod(), right=right):
            return is_bounded(right)
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


def is_sequence(node: ast.expr, names: Collection[str]) -> bool:
    """Return whether an expression is a list, tuple or text. ``names`` are those of variables that are."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str | bytes)
        case ast.JoinedStr() | ast.List() | ast.Tuple() | ast.ListComp():
            return True
        case ast.Name(id=name):
            return name in names
        case ast.Call(func=ast.Name(id=name)):
            return name in ("list", "tuple", "sorted", "str", "bytes", "bytearray")
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return is_sequence(left, names) or is_sequence(right, names)
    return False


def names_of_sequences(nodes: Collection[ast.AST]) -> frozenset[str]:
    """Return the names that a list, tuple or text is assigned to anywhere among the nodes of a module."""
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None]
    targets = [
        target
        for node in assigned
        if is_sequence(node.value, ())
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return frozenset([target.id for target in targets if isinstance(target, ast.Name)])


def has_bytes(node: ast.expr) -> bool:
    """Return whether the argument of ``bytes`` is something that has bytes, such as a slice, and no number."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.lstrip("_") in BUFFERS or isinstance(
        node, ast.Subscript | ast.BoolOp | ast.GeneratorExp | ast.ListComp | ast.List
    )


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def gives_bounded_length(call: ast.Call, positions: Collection[int], keywords: Collection[str]) -> bool:
    """Return whether the arguments that give the length are bounded. A starred argument may be any of them."""
    lengths = [value for number, value in enumerate(call.args) if number in positions or isinstance(value, ast.Starred)]
    lengths += [keyword.value for keyword in call.keywords if keyword.arg is None or keyword.arg in keywords]
    return all(map(is_bounded, lengths))


def allocates(node: ast.AST, names: Collection[str] = ()) -> bool:
    """Return whether a node makes a list, array or loop whose length is a number that is not bounded."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[first, *others]):
            stop = [first, others[0]] if len(others) > 1 else (others or [first])  # a step does not add to the length
            return not all(map(is_bounded, stop))
        case ast.Call(func=ast.Name(id="bytes" | "bytearray"), args=[argument, *_]):
            return not has_bytes(argument) and not is_bounded(argument)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="itertools"), attr="repeat")):
            return not gives_bounded_length(node, (1,), ("times",))
        case ast.Call(args=[ast.Name(id="range") | ast.Attribute(value=ast.Name(id="itertools"), attr="repeat"), *_]):
            return True  # map(range, counts)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)) if name in ARRAYS:
            return not gives_bounded_length(node, *ARRAYS[name])
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math" | "np"), attr="prod")):
            return True
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            is_left, is_right = is_sequence(left, names), is_sequence(right, names)
            return (is_left and not is_bounded(right)) or (is_right and not is_bounded(left))
        case ast.AugAssign(target=target, op=ast.Mult(), value=value):
            return is_sequence(target, names) and not is_bounded(value)
    return False


def sites(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield line, text and whether it is excused, of each place that allocates by a number."""
    lines = text.splitlines()
    nodes = list(ast.walk(ast.parse(text)))
    lengths = {id(call.args[0]) for call in nodes if isinstance(call, ast.Call) and is_name(call.func, "len")}
    lengths |= {id(node.operand) for node in nodes if isinstance(node, ast.UnaryOp)}  # whether a range is empty
    names = names_of_sequences(nodes)
    for number in sorted({node.lineno for node in nodes if allocates(node, names) and id(node) not in lengths}):
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
        "x = [0] * 3 * count",
        "x = list(sizes) * count",
        "zeros = [0]; x = zeros * count",
        "blank: str = ' '; x = count * blank",
        "x = [0]; x *= count",
        "x = range(shape[0])",
        "x = np.zeros(shape)",
        "x = np.zeros(shape=shape)",
        "x = np.zeros(*sizes)",
        "x = np.full(fill_value=0, **sizes)",
        "x = np.arange(0, count)",
        "x = np.arange(0, stop=count)",
        "x = np.linspace(0, 1, num=count)",
        "x = np.tile(array, times)",
        "x = np.tile(array, reps=times)",
        "x = np.repeat(array, repeats=times)",
        "x = np.broadcast_to(number, shape).tolist()",
        "x = np.broadcast_to(number, shape=shape).copy()",
        "x = bytes(count)",
        "x = itertools.repeat(0, count)",
        "x = itertools.repeat(0, times=count)",
        "x = map(itertools.repeat, items, counts)",
        "x = map(range, counts)",
        "x = math.prod(shape)",
        "x = np.prod(shape)",
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
        "zeros = [0]; x = zeros * len(items)",
        "number = 2; x = number * count",
        "x = [0]; x += [count]",
        "x = range(len(items))",
        "x = [1] * tensor.rank",
        "x = len(range(first, last))",
        "x = bytes(content[a:b])",
        "x = np.zeros(shape=bounded(count, 'numbers'), dtype=kind)",
        "x = np.full(3, count)",
        "x = np.tile(array, 2)",
        "x = np.broadcast_to(number, _small(shape)).tolist()",
        "x = itertools.repeat(0)",
        "x = itertools.repeat(0, times=len(items))",
    ],
)
def test_a_bounded_place_needs_no_excuse(line):
    assert not list(sites(line))
