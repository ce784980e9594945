"""Prepare of operators that call other subgraphs, and of those for variables and hash tables."""

from __future__ import annotations

import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.model.reader import load
from delegate_sim.prepare.preparation import Repreparation, prepare
from delegate_sim.prepare.tensors import PrepareError
from fixtures.builder import ModelBuilder

STRING, INT32, INT64 = 5, 2, 4
"""Values of the schema's TensorType."""


def add_function(builder, name, results, types=("FLOAT32",), rank=1):
    """Add a subgraph. Each of its results is the position of the input that it passes on, or an operator on the first input."""
    subgraph = builder.subgraph(name)
    inputs = [subgraph.input(f"{name} {position}", kind, [1] * rank) for position, kind in enumerate(types)]
    for position, result in enumerate(results):
        if isinstance(result, int):
            subgraph.outputs(inputs[result])
            continue
        output = subgraph.tensor(f"{name} result {position}", "INT32" if result == "SHAPE" else types[0], [1] * rank)
        others = [subgraph.tensor(f"axis {position}", "INT32", [], 0)] if result == "EXPAND_DIMS" else []
        subgraph.node(result, [inputs[0], *others], [output], options={"out_type": INT32} if result == "SHAPE" else None)
        subgraph.outputs(output)
    return subgraph.index


class TestIf:
    def graphs(self, then, otherwise, *, types=("FLOAT32",), results=1, condition=("BOOL", ()), shape=(4, 5), branches=None):
        builder = ModelBuilder()
        main = builder.subgraph()
        operands = [main.input("condition", *condition), *[main.input(f"x{kind}", kind, shape) for kind in types]]
        outputs = [main.tensor(f"y{position}", "FLOAT32", [1]) for position in range(results)]
        called = [add_function(builder, "then", then, types), add_function(builder, "else", otherwise, types)]
        then_index, else_index = branches or called
        options = {"then_subgraph_index": then_index, "else_subgraph_index": else_index}
        main.node("IF", operands, outputs, options=options)
        main.outputs(*outputs)
        return prepare(load(builder.bytes()))

    def test_operands_give_branches_their_shapes_and_branches_give_results_theirs(self):
        main, then, otherwise = self.graphs(["NEG"], ["SQUARE"])
        assert main.dynamic is None
        assert main.tensors[main.outputs[0]].shape == (4, 5)
        for branch in (then, otherwise):
            assert branch.tensors[branch.inputs[0]].shape == (4, 5)
            assert branch.tensors[branch.inputs[0]].allocation is Allocation.CUSTOM
            assert branch.tensors[branch.outputs[0]].shape == (4, 5)

    def test_operands_give_branches_their_types(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        operands = [main.input("condition", "BOOL", []), main.input("x", "INT32", [3])]
        result = main.tensor("y", "INT32", [3])
        index = add_function(builder, "branch", [0], types=("FLOAT32",))
        main.node("IF", operands, [result], options={"then_subgraph_index": index, "else_subgraph_index": index})
        main.outputs(result)
        assert prepare(load(builder.bytes()))[index].tensors[0].type == "INT32"

    def test_inputs_that_nothing_reads_become_minus_1(self):
        _, then, otherwise = self.graphs(["NEG"], [1], types=("FLOAT32", "INT8"))
        assert then.inputs == (0, -1)
        assert otherwise.inputs == (-1, 1)

    def test_branches_with_other_shapes_make_results_dynamic(self):
        main, *_ = self.graphs(["NEG"], ["EXPAND_DIMS"])
        assert (main.dynamic.tensor, main.dynamic.node, main.dynamic.cause) == (main.outputs[0], 0, None)

    def test_a_branch_with_dynamic_tensors_makes_all_results_dynamic(self):
        main, then, _ = self.graphs([1, "NEG"], ["NEG", "NEG"], types=("FLOAT32", "STRING"), results=2)
        assert then.dynamic is None
        assert main.dynamic is None
        main, then, _ = self.graphs([1, "NEG"], ["NEG", "NEG"], types=("FLOAT32", "RESOURCE"), results=2)
        assert then.dynamic is not None
        assert [main.tensors[output].allocation for output in main.outputs] == [Allocation.DYNAMIC] * 2

    def test_a_constant_among_inputs_keeps_its_shape(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        operands = [main.input("condition", "BOOL", []), main.input("x", "FLOAT32", [3])]
        result = main.tensor("y", "FLOAT32", [3])
        branch = builder.subgraph("branch")
        branch.outputs(branch.input("constant", "FLOAT32", [2], data=[1, 2]))
        main.node("IF", operands, [result], options={"then_subgraph_index": 1, "else_subgraph_index": 1})
        main.outputs(result)
        graphs = prepare(load(builder.bytes()))
        assert graphs[0].tensors[result].shape == graphs[1].tensors[0].shape == (2,)

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ({"condition": ("INT32", ())}, "INT32"),
            ({"condition": ("BOOL", (2,))}, "single value"),
            ({"branches": (1, 3)}, "no subgraph 3"),
            ({"branches": (-1, 2)}, "no subgraph -1"),
            ({"branches": (0, 2)}, "subgraph 0 has 2 inputs"),
            ({"results": 2}, "1 output"),
        ],
    )
    def test_refuses(self, arguments, reason):
        assert reason in self.graphs(["NEG"], ["NEG"], **arguments)[0].failure.message

    def test_refuses_what_a_branch_refuses(self):
        main, then, _ = self.graphs(["LOG"], ["NEG"], types=("BOOL",))
        assert then.failure.node == 0
        assert f"node 0 of subgraph 1: {then.failure.message}" in main.failure.message


class TestWhile:
    def graphs(self, condition, body, *, types=("FLOAT32",), shape=(4, 5), rank=1, read=(), indices=(1, 2)):
        """Prepare a model whose loop has the results ``read`` read by another node."""
        builder = ModelBuilder()
        main = builder.subgraph()
        operands = [main.input(f"x{position}", kind, shape) for position, kind in enumerate(types)]
        results = [main.tensor(f"y{position}", kind, [1]) for position, kind in enumerate(types)]
        self.add_condition(builder, condition, types)
        add_function(builder, "body", body, types, rank)
        condition_index, body_index = indices
        options = {"cond_subgraph_index": condition_index, "body_subgraph_index": body_index}
        main.node("WHILE", operands, results, options=options)
        for position in read:
            used = main.tensor(f"used {position}", types[position], [1])
            main.node("NEG", [results[position]], [used])
            main.outputs(used)
        return prepare(load(builder.bytes()))

    def add_condition(self, builder, condition, types):
        """Add a condition whose result is a constant of this type and shape, or that of LESS of the first input."""
        subgraph = builder.subgraph("condition")
        inputs = [subgraph.input(f"condition {position}", kind, [1]) for position, kind in enumerate(types)]
        if condition == "LESS":
            result = subgraph.tensor("less", "BOOL", [])
            subgraph.node("LESS", [inputs[0], inputs[0]], [result])
        else:
            kind, *shape = condition
            result = subgraph.tensor("constant", kind, shape, data=bytes(8))
        subgraph.outputs(result)

    def test_shapes_go_through_the_body(self):
        main, condition, body = self.graphs(("BOOL",), ["NEG"], read=[0])
        assert main.dynamic is None
        assert main.tensors[main.nodes[0].outputs[0]].shape == (4, 5)
        assert body.tensors[body.inputs[0]].allocation is Allocation.CUSTOM
        assert condition.inputs == (-1,)

    def test_inputs_of_the_condition_stay_in_the_arena(self):
        _, condition, _ = self.graphs("LESS", ["NEG"], shape=())
        assert condition.inputs == (0,)
        assert condition.tensors[0].shape == ()
        assert condition.tensors[0].allocation is Allocation.ARENA

    def test_a_body_that_changes_shapes_makes_results_dynamic(self):
        main, *_ = self.graphs(("BOOL",), ["EXPAND_DIMS"], read=[0])
        assert (main.dynamic.tensor, main.dynamic.node) == (main.nodes[0].outputs[0], 0)

    def test_a_scalar_and_a_vector_of_one_element_are_the_same(self):
        main, *_ = self.graphs(("BOOL",), ["EXPAND_DIMS"], shape=(), rank=0, read=[0])
        assert main.dynamic is None
        assert main.tensors[main.nodes[0].outputs[0]].shape == (1,)

    def test_a_resource_in_the_loop_makes_results_dynamic(self):
        main, _, body = self.graphs(("BOOL",), ["NEG", 1], types=("FLOAT32", "RESOURCE"))
        assert body.dynamic.tensor == body.outputs[1]
        assert main.dynamic.node == 0

    def test_results_that_are_passed_through_and_not_read_are_left_out(self):
        main, _, body = self.graphs(("BOOL",), [0, 1, "NEG"], types=("FLOAT32",) * 3, read=[1])
        first, second, third = main.nodes[0].outputs
        assert first == -1
        assert main.tensors[second].shape == main.tensors[third].shape == (4, 5)
        assert body.inputs == (0, 1, 2)

    def test_strings_that_are_passed_through_are_not_left_out(self):
        main, *_ = self.graphs(("BOOL",), ["NEG", 1], types=("FLOAT32", "STRING"))
        assert -1 not in main.nodes[0].outputs

    @pytest.mark.parametrize("shape", [(), (1,)])
    def test_condition_is_a_single_value(self, shape):
        main, *_ = self.graphs(("BOOL", *shape), ["NEG"], read=[0])
        assert main.failure is None

    @pytest.mark.parametrize(
        ("condition", "arguments", "reason"),
        [
            (("BOOL", 2), {}, "single value"),
            (("BOOL", 1, 1), {}, "single value"),
            (("INT32",), {}, "INT32"),
            (("BOOL",), {"indices": (2, 2)}, "same subgraph"),
            (("BOOL",), {"indices": (1, 9)}, "no subgraph 9"),
            (("BOOL",), {"types": ("FLOAT32", "INT8")}, "1 output"),
        ],
    )
    def test_refuses(self, condition, arguments, reason):
        assert reason in self.graphs(condition, ["NEG"], **arguments)[0].failure.message

    def test_refuses_a_body_that_changes_types(self):
        main, *_ = self.graphs(("BOOL",), ["SHAPE"])
        assert "FLOAT32 into INT32" in main.failure.message


class TestCalls:
    def test_inner_loops_see_the_shapes_of_the_outermost_operands(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        operands = [main.input("condition", "BOOL", []), main.input("x", "FLOAT32", [4, 5])]
        result = main.tensor("y", "FLOAT32", [1])
        outer = builder.subgraph("outer")
        inner_operands = [outer.input("outer condition", "BOOL", [1, 1]), outer.input("outer x", "FLOAT32", [1])]
        inner = add_function(builder, "inner", ["NEG"])
        inner_result = outer.tensor("outer y", "FLOAT32", [1])
        outer.node("IF", inner_operands, [inner_result], options=branches(inner))
        outer.outputs(inner_result)
        main.node("IF", [operands[0], operands[0], operands[1]], [result], options=branches(outer.index))
        main.outputs(result)
        graphs = prepare(load(builder.bytes()))
        assert [graph.failure for graph in graphs] == [None] * 3
        assert graphs[inner].tensors[0].shape == (4, 5)
        assert graphs[0].tensors[result].shape == (4, 5)

    def test_the_last_caller_decides_on_shapes(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        condition = main.input("condition", "BOOL", [])
        function = add_function(builder, "function", ["NEG"])
        for size in (2, 3, 2):
            result = main.tensor(f"y{size}", "FLOAT32", [1])
            main.node("IF", [condition, main.input(f"x{size}", "FLOAT32", [size])], [result], options=branches(function))
            main.outputs(result)
        graphs = prepare(load(builder.bytes()))
        assert [graphs[0].tensors[output].shape for output in graphs[0].outputs] == [(2,), (3,), (2,)]
        assert graphs[function].tensors[0].shape == (2,)

    def test_refuses_a_subgraph_that_calls_itself(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        condition = main.input("condition", "BOOL", [])
        result = main.tensor("y", "BOOL", [])
        main.node("IF", [condition, condition], [result], options=branches(0))
        main.outputs(result)
        assert "calls itself" in prepare(load(builder.bytes()))[0].failure.message

    @pytest.mark.parametrize("depth", [30, 300])
    def test_calls_within_calls_end_in_time(self, depth):
        graphs = prepare(load(nested_calls(depth, calls_by_each=3).bytes()))
        assert (graphs[0].failure is None) == (depth < 100)
        assert depth < 100 or graphs[0].failure.message.endswith("calls of subgraphs are nested more than 100 levels deep")

    def test_calls_with_ever_changing_shapes_end_in_time(self):
        graphs = prepare(load(nested_calls(40, calls_by_each=2, is_reshaping=True).bytes()))
        assert "too often" in graphs[0].failure.message

    def test_a_node_is_prepared_again_with_its_callees(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        operands = [main.input("condition", "BOOL", []), main.input("x", "FLOAT32", [2])]
        result = main.tensor("y", "FLOAT32", [2])
        main.node("IF", operands, [result], options=branches(add_function(builder, "function", ["NEG"])))
        main.outputs(result)
        graph = prepare(load(builder.bytes()))[0]
        again = Repreparation(graph)
        assert again.refusal(graph.nodes[0]) is None
        assert "subgraph 1 has 1 input" in again.refusal(graph.nodes[0]._replace(inputs=(0,)))


def branches(index):
    return {"then_subgraph_index": index, "else_subgraph_index": index}


def nested_calls(depth, calls_by_each, is_reshaping=False):
    """A model whose subgraphs each call the next, several times; ``is_reshaping`` with other shapes each time."""
    builder = ModelBuilder()
    subgraphs = [builder.subgraph(f"level {level}") for level in range(depth)]
    for level, subgraph in enumerate(subgraphs):
        condition, source = subgraph.input("condition", "BOOL", []), subgraph.input("x", "FLOAT32", [2])
        result = source
        for call in range(calls_by_each if level + 1 < depth else 0):
            operand = source
            if is_reshaping:
                operand = subgraph.tensor(f"reshaped {call}", "FLOAT32", [2])
                new_shape = subgraph.tensor(f"shape {call}", "INT32", [call + 1], data=[-1, 1][: call + 1])
                subgraph.node("RESHAPE", [source, new_shape], [operand])
            result = subgraph.tensor(f"y {call}", "FLOAT32", [2])
            subgraph.node("IF", [condition, condition, operand], [result], options=branches(level + 1))
        subgraph.outputs(result)
    return builder


class TestCallOnce:
    def failure(self, index, *, has_input=False, operands=()):
        builder = ModelBuilder()
        main = builder.subgraph()
        x = main.input("x", "FLOAT32", [2])
        main.outputs(x)
        main.node("CALL_ONCE", operands, [], options={"init_subgraph_index": index})
        called = builder.subgraph("once")
        if has_input:
            called.input("y", "FLOAT32", [2])
        return prepare(load(builder.bytes()))[0].failure

    def test_accepts_a_subgraph_without_inputs_and_outputs(self):
        assert self.failure(1) is None

    def test_refuses(self):
        assert "own subgraph" in self.failure(0).message
        assert "no subgraph 2" in self.failure(2).message
        assert "inputs or outputs" in self.failure(1, has_input=True).message
        assert "1 input" in self.failure(1, operands=(0,)).message


class TestVariables:
    def test_handle_is_kept_and_not_dynamic(self, kernels):
        node = kernels.prepare("VAR_HANDLE", [], [kernels.arena("RESOURCE", allocation=Allocation.DYNAMIC)])
        assert node.output().allocation is Allocation.VARIABLE

    def test_reading_keeps_the_shape_of_the_file(self, kernels):
        kernels.assert_static(
            kernels.prepare("READ_VARIABLE", [kernels.arena("RESOURCE")], [kernels.arena("FLOAT32", 2, 3)]), (2, 3)
        )

    def test_reading_a_scalar_is_dynamic(self, kernels):
        node = kernels.prepare("READ_VARIABLE", [kernels.arena("INT32", 1)], [kernels.arena("FLOAT32")])
        kernels.assert_dynamic(node, cause=None)

    def test_assigning_has_no_result(self, kernels):
        operands = [kernels.arena("RESOURCE"), kernels.arena("FLOAT32", 2)]
        kernels.prepare("ASSIGN_VARIABLE", operands, [])
        with pytest.raises(PrepareError, match="1 output"):
            kernels.prepare("ASSIGN_VARIABLE", operands, [kernels.arena("FLOAT32")])

    @pytest.mark.parametrize(("handle", "reason"), [(("FLOAT32",), "FLOAT32"), (("RESOURCE", 2), "single value")])
    def test_refuses_other_handles(self, kernels, handle, reason):
        with pytest.raises(PrepareError, match=reason):
            kernels.prepare("READ_VARIABLE", [kernels.arena(*handle)], [kernels.arena("FLOAT32", 2)])
        with pytest.raises(PrepareError, match=reason):
            kernels.prepare("ASSIGN_VARIABLE", [kernels.arena(*handle), kernels.arena("FLOAT32", 2)], [])


class TestHashTables:
    @pytest.mark.parametrize(("key", "value"), [(STRING, INT64), (INT64, STRING)])
    def test_handle(self, kernels, key, value):
        handle = kernels.arena("RESOURCE", 3, 4, allocation=Allocation.DYNAMIC)
        node = kernels.prepare("HASHTABLE", [], [handle], key_dtype=key, value_dtype=value)
        assert node.output().shape == (1,)
        assert node.output().is_dynamic

    def test_refuses_other_tables(self, kernels):
        with pytest.raises(PrepareError, match="INT64 to INT64"):
            kernels.prepare("HASHTABLE", [], [kernels.arena("RESOURCE")], key_dtype=INT64, value_dtype=INT64)
        with pytest.raises(PrepareError, match="INT32"):
            kernels.prepare("HASHTABLE", [], [kernels.arena("INT32")], key_dtype=INT64, value_dtype=STRING)

    def test_found_values_have_the_shape_of_the_keys(self, kernels):
        operands = [kernels.arena("RESOURCE", 1), kernels.arena("STRING", 4, 5), kernels.arena("INT64")]
        kernels.assert_static(kernels.prepare("HASHTABLE_FIND", operands, [kernels.arena("INT64")]), (4, 5))
        with pytest.raises(PrepareError, match="different types"):
            kernels.prepare("HASHTABLE_FIND", operands, [kernels.arena("STRING")])

    def test_import_takes_a_value_for_each_key(self, kernels):
        handle, keys = kernels.arena("RESOURCE", 1), kernels.arena("INT64", 4)
        kernels.prepare("HASHTABLE_IMPORT", [handle, keys, kernels.arena("STRING", 4)], [])
        with pytest.raises(PrepareError, match="shapes"):
            kernels.prepare("HASHTABLE_IMPORT", [handle, keys, kernels.arena("STRING", 5)], [])
        with pytest.raises(PrepareError, match="INT64 to INT64"):
            kernels.prepare("HASHTABLE_IMPORT", [handle, keys, keys], [])

    def test_size(self, kernels):
        node = kernels.prepare("HASHTABLE_SIZE", [kernels.arena("RESOURCE", 1)], [kernels.arena("INT64", 7)])
        kernels.assert_static(node, (1,))
        with pytest.raises(PrepareError, match="INT32"):
            kernels.prepare("HASHTABLE_SIZE", [kernels.arena("RESOURCE", 1)], [kernels.arena("INT32")])

    @pytest.mark.parametrize(
        ("handle", "message"),
        [
            (("RESOURCE",), "the handle is not a vector of one element"),
            (("RESOURCE", 2), "the handle is not a vector of one element"),
            (("INT32", 1), "tensor 0 is INT32"),
        ],
    )
    def test_refuses_other_handles(self, kernels, handle, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("HASHTABLE_SIZE", [kernels.arena(*handle)], [kernels.arena("INT64")])
