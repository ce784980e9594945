"""Nodes left out, joined or taken over once shapes are known, graph by graph."""

from __future__ import annotations

import pytest

from delegate_sim.hypothetical.model_editing import Editor
from delegate_sim.hypothetical.simplification import simplify
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


class Open:
    """A graph whose leading size was unknown: tensors by name, nodes in order."""

    def __init__(self):
        self._builder = ModelBuilder()
        self._graph = self._builder.subgraph("main")
        self.index = {}

    def tensor(self, name, *shape, data=None, kind="FLOAT32", is_open=True):
        signature = [-1, *shape[1:]] if is_open and data is None and shape else None
        fields = {"data": data} if data is not None else {"signature": signature} if signature else {}
        self.index[name] = self._graph.tensor(name, kind, list(shape), **fields)

    def node(self, op, inputs, outputs, **options):
        named = [-1 if name is None else self.index[name] for name in inputs]
        self._graph.node(op, named, [self.index[name] for name in outputs], options=options or None)

    def simplified(self, inputs, outputs, constants=(), zeros=()):
        """The nodes that are left: operator, operands and results by name, and the editor."""
        self._graph.inputs(*[self.index[name] for name in inputs])
        self._graph.outputs(*[self.index[name] for name in outputs])
        model = load(self._builder.bytes())
        editor = Editor(model, model.subgraphs[0])
        simplify(editor, frozenset(self.index[name] for name in constants), frozenset(self.index[name] for name in zeros))

        def names(indices):
            return [editor.tensors[index].name if index < len(model.subgraphs[0].tensors) else "new" for index in indices]

        return [(node.op, names(node.inputs), names(node.outputs)) for _, node in editor.nodes], editor


@pytest.mark.parametrize(
    ("op", "operands", "activation", "is_gone"),
    [
        ("ADD", ("x", "zeros"), 0, True),
        ("ADD", ("zeros", "x"), 0, True),
        ("SUB", ("x", "zeros"), 0, True),
        ("SUB", ("zeros", "x"), 0, False),
        ("ADD", ("x", "zeros"), 1, False),
        ("MUL", ("x", "zeros"), 0, False),
        ("ADD", ("row", "zeros"), 0, False),
    ],
)
def test_an_addition_of_zeros(op, operands, activation, is_gone):
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("row", 3)
    graph.tensor("zeros", 2, 3)
    graph.tensor("sum", 2, 3)
    graph.tensor("out", 2, 3)
    graph.node(op, operands, ["sum"], fused_activation_function=activation)
    graph.node("RELU", ["sum"], ["out"])
    nodes, _ = graph.simplified(["x", "row", "zeros"], ["out"], zeros=["zeros"])
    assert (nodes == [("RELU", ["x"], ["out"])]) == is_gone
    assert len(nodes) == (1 if is_gone else 2)


@pytest.mark.parametrize(
    ("order", "is_open", "op"),
    [([0, 2, 1, 3], True, "RESHAPE"), ([0, 2, 1, 3], False, "TRANSPOSE"), ([0, 3, 2, 1], True, "TRANSPOSE")],
)
def test_a_transpose_of_dimensions_of_size_1(order, is_open, op):
    shape = (2, 1, 3, 4)
    graph = Open()
    graph.tensor("x", *shape, is_open=is_open)
    graph.tensor("order", 4, data=order, kind="INT32")
    graph.tensor("out", *[shape[axis] for axis in order], is_open=is_open)
    graph.node("TRANSPOSE", ["x", "order"], ["out"])
    nodes, editor = graph.simplified(["x"], ["out"])
    assert nodes == [(op, ["x", "new" if op == "RESHAPE" else "order"], ["out"])]
    if op == "RESHAPE":
        told = editor.tensors[editor.nodes[0][1].inputs[1]]
        assert (told.name, told.type, told.shape, told.value.tolist()) == ("order", "INT32", (4,), [2, 3, 1, 4])


@pytest.mark.parametrize(("axis_is_constant", "op"), [(True, "RESHAPE"), (False, "EXPAND_DIMS")])
def test_an_expansion_along_a_constant_axis_becomes_a_reshape(axis_is_constant, op):
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("axis", kind="INT32", data=[1] if axis_is_constant else None)
    graph.tensor("out", 2, 1, 3)
    graph.node("EXPAND_DIMS", ["x", "axis"], ["out"])
    nodes, editor = graph.simplified(["x"] if axis_is_constant else ["x", "axis"], ["out"])
    assert [name for name, _, _ in nodes] == [op]
    if op == "RESHAPE":
        assert editor.tensors[editor.nodes[0][1].inputs[1]].value.tolist() == [2, 1, 3]


@pytest.mark.parametrize("op", ["TRANSPOSE", "RELU"])
@pytest.mark.parametrize(("shape", "order"), [((2, 1, 3), [0, 0, 0]), ((1, 1, 3), [0, 0, 2])])
def test_other_nodes_stay(op, shape, order):
    graph = Open()
    graph.tensor("x", *shape)
    graph.tensor("order", 3, data=order, kind="INT32")
    graph.tensor("out", *shape)
    graph.node(op, ["x", "order"], ["out"])
    assert graph.simplified(["x"], ["out"])[0] == [(op, ["x", "order"], ["out"])]


def test_nodes_behind_others_that_stay_are_looked_at_as_well():
    graph = Open()
    for name, shape in [
        ("x", (2, 1, 3)),
        ("a", (2, 1, 3)),
        ("b", (3, 1, 2)),
        ("c", (3, 2, 1)),
        ("d", (3, 2, 1)),
        ("out", (3, 2, 1)),
    ]:
        graph.tensor(name, *shape)
    graph.tensor("turn", 3, data=[2, 1, 0], kind="INT32")
    graph.tensor("move", 3, data=[0, 2, 1], kind="INT32")
    graph.tensor("same", 3, data=[3, 2, 1], kind="INT32")
    graph.node("RELU", ["x"], ["a"])
    graph.node("TRANSPOSE", ["a", "turn"], ["b"])
    graph.node("TRANSPOSE", ["b", "move"], ["c"])
    graph.node("TANH", ["c"], ["d"])
    graph.tensor("e", 3, 2, 1)
    graph.node("RESHAPE", ["d", "same"], ["e"])
    graph.node("RELU", ["e"], ["out"])
    nodes, _ = graph.simplified(["x"], ["out"])
    assert [op for op, _, _ in nodes] == ["RELU", "TRANSPOSE", "RESHAPE", "TANH", "RELU"]
    assert nodes[-1][1] == ["d"]


@pytest.mark.parametrize("op", ["RESHAPE", "BROADCAST_TO"])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_reshape_to_the_same_shape(op, is_open):
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("shape", 2, data=[2, 3], kind="INT32")
    graph.tensor("same", 2, 3, is_open=is_open)
    graph.tensor("out", 2, 3)
    graph.node(op, ["x", "shape"], ["same"])
    graph.node("RELU", ["same"], ["out"])
    nodes, _ = graph.simplified(["x"], ["out"])
    assert [node[0] for node in nodes] == (["RELU"] if is_open else [op, "RELU"])
    # Known operands that were not are as good as an open shape.
    assert [node[0] for node in graph.simplified(["x"], ["out"], constants=["shape"])[0]] == ["RELU"]


def test_a_reshape_of_a_reshape_reads_what_came_before():
    graph = Open()
    for name, shape in (("x", (2, 6)), ("first", (2, 3, 2)), ("second", (2, 2, 3)), ("out", (4, 3))):
        graph.tensor(name, *shape)
        graph.tensor(f"to {name}", len(shape), data=list(shape), kind="INT32")
    for before, after in (("x", "first"), ("first", "second"), ("second", "out")):
        graph.node("RESHAPE", [before, f"to {after}"], [after])
    assert graph.simplified(["x"], ["out"])[0] == [("RESHAPE", ["x", "to out"], ["out"])]


def layer(added, *, bias=None, has_reshape=False, activation=0, own_activation=0, kind="FLOAT32", is_open=True):
    """A FULLY_CONNECTED of 4 units, possibly a RESHAPE, and an ADD of a constant."""
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("weights", 4, 3, data=[0.5] * 12)
    graph.tensor("bias", 4, data=[0.0] * 4)
    graph.tensor("layer", 2, 4)
    graph.tensor("shape", 3, data=[2, 2, 2], kind="INT32")
    graph.tensor("wide", 2, 2, 2)
    graph.tensor("added", *added, data=[1.0] * (added[0] * (added[1] if len(added) > 1 else 1)) if added else [1.0])
    before = ("wide", (2, 2, 2)) if has_reshape else ("layer", (2, 4))
    graph.tensor("out", *before[1], is_open=is_open)
    operands = ["x", "weights", *([] if bias is None else [bias or None])]
    graph.node("FULLY_CONNECTED", operands, ["layer"], fused_activation_function=own_activation)
    if has_reshape:
        graph.node("RESHAPE", ["layer", "shape"], ["wide"])
    graph.node("ADD", [before[0], "added"], ["out"], fused_activation_function=activation)
    return graph


def nodes_of(editor):
    return [node for _, node in editor.nodes]


@pytest.mark.parametrize(
    ("graph", "is_joined"),
    [
        (layer((4,)), True),
        (layer((4,), bias=""), True),
        (layer((2, 2), has_reshape=True), True),
        (layer((4,), bias="bias"), False),
        (layer((4,), own_activation=1), False),
        (layer((1,)), False),
        (layer((2, 4)), False),
        (layer((2,), has_reshape=True), False),
        (layer((4,), is_open=False), False),
    ],
)
def test_a_constant_behind_a_layer_becomes_its_bias(graph, is_joined):
    nodes, editor = graph.simplified(["x"], ["out"])
    assert ("ADD" not in [op for op, _, _ in nodes]) == is_joined
    if is_joined:
        assert nodes[0][1] == ["x", "weights", "added"]
        assert editor.outputs == list(nodes_of(editor)[-1].outputs), "what the addition gave"
        assert editor.tensors[editor.nodes[0][1].inputs[2]].shape == (4,)


def test_the_activation_of_the_addition_becomes_the_layers():
    _, editor = layer((4,), activation=3).simplified(["x"], ["out"])
    assert [editor.options_of(node).fused_activation_function for _, node in editor.nodes] == [3]


def test_a_constant_that_others_read_is_copied_for_the_bias():
    graph = layer((2, 2), has_reshape=True)
    graph.tensor("double", 2, 2)
    graph.node("MUL", ["added", "added"], ["double"])
    nodes, editor = graph.simplified(["x"], ["out", "double"])
    assert nodes[0][1] == ["x", "weights", "new"]
    assert editor.tensors[graph.index["added"]].shape == (2, 2)


def test_a_constant_that_one_other_node_reads_is_copied_as_well():
    graph = layer((2, 2), has_reshape=True)
    graph.tensor("negated", 2, 2)
    graph.node("NEG", ["added"], ["negated"])
    nodes, editor = graph.simplified(["x"], ["out", "negated"])
    assert nodes[0][1] == ["x", "weights", "new"]
    assert editor.tensors[graph.index["added"]].shape == (2, 2)


def test_a_quantized_constant_becomes_a_bias_of_32_bits():
    for has_other_reader in (False, True):
        graph = Open()
        graph.tensor("x", 2, 3, kind="INT8")
        graph.tensor("weights", 4, 3, data=[1] * 12, kind="INT8")
        graph.tensor("layer", 2, 4, kind="INT8")
        graph.tensor("shape", 3, data=[2, 2, 2], kind="INT32")
        graph.tensor("wide", 2, 2, 2, kind="INT8")
        graph.tensor("added", 2, 2, data=[1] * 4, kind="INT8")
        graph.tensor("out", 2, 2, 2, kind="INT8")
        graph.tensor("negated", 2, 2, kind="INT8")
        graph.node("FULLY_CONNECTED", ["x", "weights"], ["layer"], fused_activation_function=0)
        graph.node("RESHAPE", ["layer", "shape"], ["wide"])
        graph.node("ADD", ["wide", "added"], ["out"], fused_activation_function=0)
        if has_other_reader:
            graph.node("NEG", ["added"], ["negated"])
        _, editor = graph.simplified(["x"], ["out", "negated"] if has_other_reader else ["out"])
        bias = editor.tensors[editor.nodes[0][1].inputs[2]]
        assert (bias.type, bias.shape, bias.data) == ("INT32", (4,), None)
        assert editor.tensors[graph.index["added"]].type == ("INT8" if has_other_reader else "INT32")


def test_a_constant_of_one_dimension_is_the_bias_itself_whoever_reads_it():
    graph = layer((4,))
    graph.tensor("negated", 4)
    graph.node("NEG", ["added"], ["negated"])
    nodes, _ = graph.simplified(["x"], ["out", "negated"])
    assert nodes[0][1] == ["x", "weights", "added"]


def test_a_constant_of_floats_keeps_its_type_and_data_as_a_bias():
    _, editor = layer((2, 2), has_reshape=True).simplified(["x"], ["out"])
    bias = editor.tensors[editor.nodes[0][1].inputs[2]]
    assert (bias.type, bias.data is None) == ("FLOAT32", False)


def test_only_additions_become_a_bias():
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("weights", 4, 3, data=[0.5] * 12)
    graph.tensor("layer", 2, 4)
    graph.tensor("factor", 4, data=[2.0] * 4)
    graph.tensor("out", 2, 4)
    graph.node("FULLY_CONNECTED", ["x", "weights"], ["layer"], fused_activation_function=0)
    graph.node("MUL", ["layer", "factor"], ["out"], fused_activation_function=0)
    assert [op for op, _, _ in graph.simplified(["x"], ["out"])[0]] == ["FULLY_CONNECTED", "MUL"]


def test_the_bias_of_a_layer_that_keeps_dimensions_is_as_long_as_its_last_one():
    graph = Open()
    graph.tensor("x", 2, 2, 3)
    graph.tensor("weights", 4, 3, data=[0.5] * 12)
    graph.tensor("layer", 2, 2, 4)
    graph.tensor("added", 4, data=[1.0] * 4)
    graph.tensor("out", 2, 2, 4)
    graph.node("FULLY_CONNECTED", ["x", "weights"], ["layer"], fused_activation_function=0, keep_num_dims=True)
    graph.node("ADD", ["layer", "added"], ["out"], fused_activation_function=0)
    nodes, _ = graph.simplified(["x"], ["out"])
    assert nodes == [("FULLY_CONNECTED", ["x", "weights", "added"], ["out"])] or nodes[0][1] == ["x", "weights", "added"]


def test_options_that_were_changed_are_those_of_the_same_operator():
    _, editor = layer((4,), activation=3).simplified(["x"], ["out"])
    ((_, node),) = editor.nodes
    assert editor.options_of(node).table == "FullyConnectedOptions"


def test_a_constant_added_to_an_input_stays():
    graph = Open()
    graph.tensor("x", 2, 4)
    graph.tensor("added", 4, data=[1.0] * 4)
    graph.tensor("out", 2, 4)
    graph.tensor("twice", 2, 4)
    graph.node("ADD", ["x", "added"], ["out"])
    graph.node("ADD", ["x", "x"], ["twice"])
    assert [op for op, _, _ in graph.simplified(["x"], ["out", "twice"])[0]] == ["ADD", "ADD"]


def test_a_bias_that_is_widened_from_float16_has_one_dimension_in_both_types():
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("weights", 4, 3, data=[0.5] * 12)
    graph.tensor("layer", 2, 4)
    graph.tensor("shape", 3, data=[2, 2, 2], kind="INT32")
    graph.tensor("wide", 2, 2, 2)
    graph.tensor("half", 2, 2, data=[1.0] * 4, kind="FLOAT16")
    graph.tensor("added", 2, 2, is_open=False)
    graph.tensor("out", 2, 2, 2)
    graph.node("DEQUANTIZE", ["half"], ["added"])
    graph.node("FULLY_CONNECTED", ["x", "weights"], ["layer"])
    graph.node("RESHAPE", ["layer", "shape"], ["wide"])
    graph.node("ADD", ["wide", "added"], ["out"])
    nodes, editor = graph.simplified(["x"], ["out"])
    assert [op for op, _, _ in nodes] == ["DEQUANTIZE", "FULLY_CONNECTED", "RESHAPE"]
    assert nodes[1][1] == ["x", "weights", "added"]
    assert [editor.tensors[graph.index[name]].shape for name in ("half", "added")] == [(4,), (4,)]


@pytest.mark.parametrize(("shape", "keeps"), [((2, 1, 4), True), ((2, 4, 1), False)])
@pytest.mark.parametrize("op", ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"])
def test_a_reduction_keeps_dimensions_that_a_reshape_puts_back(op, shape, keeps):
    graph = Open()
    graph.tensor("x", 2, 3, 4)
    graph.tensor("axis", 1, data=[1], kind="INT32")
    graph.tensor("reduced", 2, 4)
    graph.tensor("shape", 3, data=list(shape), kind="INT32")
    graph.tensor("out", *shape)
    graph.node(op, ["x", "axis"], ["reduced"], keep_dims=False)
    graph.node("RESHAPE", ["reduced", "shape"], ["out"])
    nodes, editor = graph.simplified(["x"], ["out"])
    is_joined = keeps and op != "REDUCE_PROD"
    assert nodes == (
        [(op, ["x", "axis"], ["out"])]
        if is_joined
        else [(op, ["x", "axis"], ["reduced"]), ("RESHAPE", ["reduced", "shape"], ["out"])]
    )
    assert editor.options_of(editor.nodes[0][1]).keep_dims == is_joined


FUSED = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}
"""``ActivationFunctionType`` in the schema."""


@pytest.mark.parametrize(("shape", "activation"), [*[((2, 3, 4), op) for op in (*FUSED, "TANH")], ((3, 2, 4), "RELU6")])
def test_a_layer_keeps_dimensions_and_takes_the_activation(shape, activation):
    graph = Open()
    for name, sizes in (("x", (2, 3, 5)), ("flat", (6, 5)), ("layer", (6, 4)), ("wide", shape), ("out", shape)):
        graph.tensor(name, *sizes)
        graph.tensor(f"to {name}", len(sizes), data=list(sizes), kind="INT32")
    graph.tensor("weights", 4, 5, data=[0.5] * 20)
    graph.node("RESHAPE", ["x", "to flat"], ["flat"])
    graph.node("FULLY_CONNECTED", ["flat", "weights"], ["layer"], keep_num_dims=False)
    graph.node("RESHAPE", ["layer", "to wide"], ["wide"])
    graph.node(activation, ["wide"], ["out"])
    nodes, editor = graph.simplified(["x"], ["out"])
    if shape != (2, 3, 4):
        assert [op for op, _, _ in nodes] == ["RESHAPE", "FULLY_CONNECTED", "RESHAPE", activation]
        return
    options = editor.options_of(editor.nodes[0][1])
    if activation in FUSED:
        assert nodes == [("FULLY_CONNECTED", ["x", "weights"], ["out"])]
        assert (options.keep_num_dims, options.fused_activation_function) == (True, FUSED[activation])
    else:
        assert nodes == [("FULLY_CONNECTED", ["x", "weights"], ["wide"]), ("TANH", ["wide"], ["out"])]
        assert (options.keep_num_dims, options.fused_activation_function) == (True, 0)


@pytest.mark.parametrize(
    ("source", "axes", "reduced", "shape", "is_open", "is_joined"),
    [
        ((4,), [-1], (), (1,), True, True),
        ((4,), [0], (), (1,), True, True),
        ((2, 3, 4), [-1], (2, 3), (2, 3, 1), True, True),
        ((2, 3, 4), [0, -1], (3,), (1, 3, 1), True, True),
        ((2, 3, 4), [1], (2, 4), (2, 1, 4), False, False),
    ],
)
def test_only_what_was_unknown_is_joined_along_whichever_axes(source, axes, reduced, shape, is_open, is_joined):
    graph = Open()
    graph.tensor("x", *source)
    graph.tensor("axes", len(axes), data=axes, kind="INT32")
    graph.tensor("reduced", *reduced)
    graph.tensor("shape", len(shape), data=list(shape), kind="INT32")
    graph.tensor("out", *shape, is_open=is_open)
    graph.node("SUM", ["x", "axes"], ["reduced"], keep_dims=False)
    graph.node("RESHAPE", ["reduced", "shape"], ["out"])
    nodes, _ = graph.simplified(["x"], ["out"])
    assert [node[0] for node in nodes] == (["SUM"] if is_joined else ["SUM", "RESHAPE"])


@pytest.mark.parametrize(
    ("op", "shape", "operand"), [("TRANSPOSE", (2, 2), [1, 0]), ("RESHAPE", (2, 3), [2, 3])], ids=["equal sizes", "an output"]
)
def test_what_gives_the_shape_that_was_may_still_be_needed(op, shape, operand):
    graph = Open()
    graph.tensor("x", *shape)
    graph.tensor("operand", 2, data=operand, kind="INT32")
    graph.tensor("out", *shape)
    graph.node(op, ["x", "operand"], ["out"])
    assert graph.simplified(["x"], ["out"])[0] == [(op, ["x", "operand"], ["out"])]


def test_a_reshape_of_what_became_constant_stays_where_its_shape_was_known():
    graph = Open()
    graph.tensor("x", 2, 3, is_open=False)
    graph.tensor("shape", 2, data=[2, 3], kind="INT32")
    graph.tensor("same", 2, 3, is_open=False)
    graph.tensor("out", 2, 3)
    graph.node("RESHAPE", ["x", "shape"], ["same"])
    graph.node("RELU", ["same"], ["out"])
    assert [op for op, _, _ in graph.simplified(["x"], ["out"], constants=["x"])[0]] == ["RESHAPE", "RELU"]


@pytest.mark.parametrize("operands", [["layer"], ["layer", "added", "added"]])
def test_an_addition_of_other_than_two_operands_stays(operands):
    graph = Open()
    graph.tensor("x", 2, 3)
    graph.tensor("weights", 4, 3, data=[0.5] * 12)
    graph.tensor("layer", 2, 4)
    graph.tensor("added", 4, data=[1.0] * 4)
    graph.tensor("out", 2, 4)
    graph.node("FULLY_CONNECTED", ["x", "weights"], ["layer"])
    graph.node("ADD", operands, ["out"])
    assert [op for op, _, _ in graph.simplified(["x"], ["out"])[0]] == ["FULLY_CONNECTED", "ADD"]


@pytest.mark.parametrize("has_reshape", [False, True])
def test_a_constant_is_no_bias_of_a_layer_that_others_read(has_reshape):
    graph = layer((4,) if not has_reshape else (2, 2), has_reshape=has_reshape)
    nodes, _ = graph.simplified(["x"], ["out", "layer"])
    assert [op for op, _, _ in nodes] == ["FULLY_CONNECTED", *(["RESHAPE"] if has_reshape else []), "ADD"]


def test_an_activation_stays_where_others_read_what_it_is_of():
    graph = Open()
    for name, sizes in (("x", (2, 3, 5)), ("flat", (6, 5)), ("layer", (6, 4)), ("wide", (2, 3, 4)), ("out", (2, 3, 4))):
        graph.tensor(name, *sizes)
        graph.tensor(f"to {name}", len(sizes), data=list(sizes), kind="INT32")
    graph.tensor("weights", 4, 5, data=[0.5] * 20)
    graph.node("RESHAPE", ["x", "to flat"], ["flat"])
    graph.node("FULLY_CONNECTED", ["flat", "weights"], ["layer"], keep_num_dims=False)
    graph.node("RESHAPE", ["layer", "to wide"], ["wide"])
    graph.node("RELU", ["wide"], ["out"])
    nodes, editor = graph.simplified(["x"], ["wide", "out"])
    assert nodes == [("FULLY_CONNECTED", ["x", "weights"], ["wide"]), ("RELU", ["wide"], ["out"])]
    assert editor.options_of(editor.nodes[0][1]).fused_activation_function == 0


def test_a_layer_that_keeps_dimensions_takes_those_of_its_source():
    graph = Open()
    for name, sizes in (("x", (2, 3, 5)), ("flat", (1, 6, 5)), ("layer", (1, 6, 4)), ("out", (2, 3, 4))):
        graph.tensor(name, *sizes)
        graph.tensor(f"to {name}", len(sizes), data=list(sizes), kind="INT32")
    graph.tensor("weights", 4, 5, data=[0.5] * 20)
    graph.node("RESHAPE", ["x", "to flat"], ["flat"])
    graph.node("FULLY_CONNECTED", ["flat", "weights"], ["layer"], keep_num_dims=True)
    graph.node("RESHAPE", ["layer", "to out"], ["out"])
    assert graph.simplified(["x"], ["out"])[0] == [("FULLY_CONNECTED", ["x", "weights"], ["out"])]


def test_layers_on_the_same_rows_all_keep_dimensions():
    graph = Open()
    for name, sizes in (
        ("x", (2, 3, 5)),
        ("flat", (6, 5)),
        ("a", (6, 4)),
        ("b", (6, 4)),
        ("left", (2, 3, 4)),
        ("right", (2, 3, 4)),
    ):
        graph.tensor(name, *sizes)
        graph.tensor(f"to {name}", len(sizes), data=list(sizes), kind="INT32")
    graph.tensor("weights", 4, 5, data=[0.5] * 20)
    graph.node("RESHAPE", ["x", "to flat"], ["flat"])
    for layer, result in (("a", "left"), ("b", "right")):
        graph.node("FULLY_CONNECTED", ["flat", "weights"], [layer], keep_num_dims=False)
        graph.node("RESHAPE", [layer, f"to {result}"], [result])
    nodes, _ = graph.simplified(["x"], ["left", "right"])
    assert nodes == [("FULLY_CONNECTED", ["x", "weights"], [result]) for result in ("left", "right")]
