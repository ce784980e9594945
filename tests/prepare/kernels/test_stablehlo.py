"""Prepare of StableHLO operators, DILATE and REDUCE_WINDOW."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.model.reader import load
from delegate_sim.prepare.preparation import prepare
from delegate_sim.prepare.tensors import PrepareError
from fixtures.builder import ModelBuilder


class TestRngBitGenerator:
    def generate(self, kernels, state, next_state, numbers):
        return kernels.prepare("STABLEHLO_RNG_BIT_GENERATOR", [state], [next_state, numbers])

    def test_shapes_are_those_of_the_file(self, kernels):
        state = kernels.arena("UINT64", 2)
        kernels.assert_static(self.generate(kernels, state, state, kernels.arena("UINT32", 4, 5)), (2,), (4, 5))

    def test_refuses_other_states_and_numbers(self, kernels):
        state, numbers = kernels.arena("UINT64", 2), kernels.arena("INT64", 4)
        with pytest.raises(PrepareError, match="shape"):
            self.generate(kernels, state, kernels.arena("UINT64", 3), numbers)
        with pytest.raises(PrepareError, match="INT64"):
            self.generate(kernels, kernels.arena("INT64", 2), state, numbers)
        with pytest.raises(PrepareError, match="vector"):
            self.generate(kernels, kernels.arena("UINT64", 1, 2), state, numbers)
        with pytest.raises(PrepareError, match="FLOAT32"):
            self.generate(kernels, state, state, kernels.arena("FLOAT32", 4))


ELEMENTWISE = ["STABLEHLO_ADD", "STABLEHLO_AND", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM", "STABLEHLO_MULTIPLY"]


@pytest.mark.parametrize("op", ELEMENTWISE)
class TestElementwise:
    def test_shape(self, kernels, op):
        operand = kernels.arena("INT8", 2, 3)
        kernels.assert_static(kernels.prepare(op, [operand, operand], [kernels.arena("INT8")]), (2, 3))

    def test_refuses_operands_that_differ(self, kernels, op):
        first = kernels.arena("INT8", 2, 3)
        for second in (kernels.arena("INT16", 2, 3), kernels.arena("INT8", 3), kernels.arena("INT8", 1, 3)):
            with pytest.raises(PrepareError, match="different"):
                kernels.prepare(op, [first, second], [kernels.arena("INT8")])


class TestShiftLeft:
    def test_takes_type_and_shape_of_the_first_operand(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT8", 7)]
        node = kernels.prepare("STABLEHLO_SHIFT_LEFT", operands, [kernels.arena("INT32")])
        kernels.assert_static(node, (2, 3))
        assert node.output().type == "INT8"

    def test_refuses_types_that_differ(self, kernels):
        with pytest.raises(PrepareError, match="types"):
            kernels.prepare("STABLEHLO_SHIFT_LEFT", [kernels.arena("INT8"), kernels.arena("INT16")], [kernels.arena("INT8")])


class TestGather:
    def gather(self, kernels, indices=None, rank=3, **options):
        defaults = {
            "offset_dims": (1, 2),
            "collapsed_slice_dims": (0,),
            "start_index_map": (0,),
            "index_vector_dim": 1,
            "slice_sizes": (1, 2, 3),
        }
        operands = [kernels.arena("FLOAT32", 7, 8, 9), indices or kernels.arena("INT32", 5, 1)]
        results = [kernels.arena("FLOAT32", *[1] * rank)]
        return kernels.prepare("STABLEHLO_GATHER", operands, results, **{**defaults, **options})

    def test_batch_sizes_come_first(self, kernels):
        kernels.assert_static(self.gather(kernels), (5, 2, 3))

    def test_offset_dimensions_go_where_they_are_told(self, kernels):
        kernels.assert_static(self.gather(kernels, offset_dims=(0, 2)), (2, 5, 3))

    def test_index_vector_in_front(self, kernels):
        kernels.assert_static(self.gather(kernels, kernels.arena("INT64", 1, 6), index_vector_dim=0), (6, 2, 3))

    def test_indices_without_vectors(self, kernels):
        kernels.assert_static(self.gather(kernels, kernels.arena("INT64", 6), index_vector_dim=1), (6, 2, 3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"slice_sizes": (1, 2)}, "the number of slice sizes differs from the number of dimensions"),
            ({"collapsed_slice_dims": (0, 1, 2, 0)}, "there are more collapsed dimensions than input dimensions"),
            ({"offset_dims": (0, 1, 2, 3)}, "there are more offset dimensions than output dimensions"),
            ({"index_vector_dim": 3}, "the dimension of the index vectors is out of range"),
            ({"rank": 4}, "the result has more dimensions than the slices and the indices together"),
            ({"collapsed_slice_dims": (0, 1)}, "the result has more dimensions than the slices and the indices together"),
        ],
    )
    def test_refuses_options_that_do_not_fit(self, kernels, options, message):
        with pytest.raises(PrepareError, match=message):
            self.gather(kernels, **options)

    def test_refuses_indices_of_another_type(self, kernels):
        with pytest.raises(PrepareError, match="UINT8"):
            self.gather(kernels, kernels.arena("UINT8", 5, 1))


class TestPad:
    def pad(self, kernels, low, high, interior, *, source=None, padding=None, result="INT8"):
        operands = [source or kernels.arena("INT8", 4, 3), padding or kernels.constant(0, "INT8")]
        options = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
        return kernels.prepare("STABLEHLO_PAD", operands, [kernels.arena(result)], **options)

    @pytest.mark.parametrize(
        ("low", "high", "interior", "expected"),
        [
            ((1, 0), (2, 0), (0, 0), (7, 3)),
            ((0, 0), (0, 0), (1, 2), (7, 7)),
            ((-1, -1), (-1, 3), (0, 0), (2, 5)),
            ((-2, 0), (-2, 0), (0, 0), (0, 0)),
        ],
    )
    def test_shape(self, kernels, low, high, interior, expected):
        kernels.assert_static(self.pad(kernels, low, high, interior), expected)

    def test_an_empty_dimension_has_no_interior(self, kernels):
        node = self.pad(kernels, (2, 1), (0, 0), (5, 0), source=kernels.arena("INT8", 0, 3))
        kernels.assert_static(node, (2, 4))

    def test_what_vectors_lack_is_0(self, kernels):
        kernels.assert_static(self.pad(kernels, (1,), (1,), (0,)), (6, 3))

    def test_refuses_other_options(self, kernels):
        with pytest.raises(PrepareError, match="negative"):
            self.pad(kernels, (0, 0), (0, 0), (-1, 0))
        with pytest.raises(PrepareError, match="incomplete"):
            self.pad(kernels, (0, 0), (0,), (0, 0))
        with pytest.raises(PrepareError, match="too large"):
            self.pad(kernels, (2**31, 0), (0, 0), (0, 0))
        with pytest.raises(PrepareError, match="incomplete"):
            kernels.prepare("STABLEHLO_PAD", [kernels.arena("INT8", 4), kernels.arena("INT8")], [kernels.arena("INT8")])

    def test_refuses_other_operands(self, kernels):
        zeros = ((0, 0), (0, 0), (0, 0))
        with pytest.raises(PrepareError, match="type"):
            self.pad(kernels, *zeros, padding=kernels.constant(0, "INT16"))
        with pytest.raises(PrepareError, match="single"):
            self.pad(kernels, *zeros, padding=kernels.constant([0, 0], "INT8"))
        with pytest.raises(PrepareError, match="types"):
            self.pad(kernels, *zeros, result="INT16")
        with pytest.raises(PrepareError, match="0 dimensions"):
            self.pad(kernels, *zeros, source=kernels.arena("INT8"))


class TestDilate:
    def dilate(self, kernels, dilations, source=None, padding=None):
        operands = [source or kernels.arena("INT16", 4, 1, 3), dilations, padding or kernels.arena("INT16")]
        return kernels.prepare("DILATE", operands, [kernels.arena("INT16", 9, 9, 9)])

    def test_shape(self, kernels):
        kernels.assert_static(self.dilate(kernels, kernels.constant([2, 5, 1])), (7, 1, 3))

    def test_dilations_that_are_not_in_the_file_make_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.dilate(kernels, kernels.arena("INT32", 3)), cause=1)
        kernels.assert_dynamic(self.dilate(kernels, kernels.persistent([1, 1, 1])), cause=1)

    def test_refuses_other_operands(self, kernels):
        with pytest.raises(PrepareError, match="scalar"):
            self.dilate(kernels, kernels.constant([1]), source=kernels.arena("INT16"))
        with pytest.raises(PrepareError, match="type"):
            self.dilate(kernels, kernels.constant([1, 1, 1]), padding=kernels.arena("INT8"))
        with pytest.raises(PrepareError, match="negative"):
            self.dilate(kernels, kernels.constant([2]), source=kernels.arena("INT16", 0))


class TestReduceWindow:
    def reduce(self, kernels, size, strides, dilations, source=None):
        windows = [kernels.constant(vector, "INT64") for vector in (size, strides, dilations)]
        operands = [source or kernels.arena("FLOAT32", 10, 9), kernels.arena("FLOAT32"), *windows]
        return kernels.prepare("REDUCE_WINDOW", operands, [kernels.arena("FLOAT32")])

    @pytest.mark.parametrize(
        ("size", "strides", "dilations", "expected"),
        [([3, 3], [1, 1], [1, 1], (8, 7)), ([3, 3], [2, 4], [2, 1], (3, 2)), ([4, 9], [1, 1], [4, 1], (0, 1))],
    )
    def test_shape(self, kernels, size, strides, dilations, expected):
        kernels.assert_static(self.reduce(kernels, size, strides, dilations), expected)

    def test_refuses_windows_that_are_not_in_the_file(self, kernels):
        operands = [kernels.arena("FLOAT32", 4), kernels.arena("FLOAT32"), *[kernels.persistent([1], "INT64")] * 3]
        with pytest.raises(PrepareError, match="constant"):
            kernels.prepare("REDUCE_WINDOW", operands, [kernels.arena("FLOAT32")])

    def test_refuses_windows_of_another_type(self, kernels):
        operands = [kernels.arena("FLOAT32", 4), kernels.arena("FLOAT32"), *[kernels.constant([1])] * 3]
        with pytest.raises(PrepareError, match="INT32"):
            kernels.prepare("REDUCE_WINDOW", operands, [kernels.arena("FLOAT32")])

    @pytest.mark.parametrize("rank", [0, 7])
    def test_refuses_other_ranks(self, kernels, rank):
        ones = [1] * rank
        with pytest.raises(PrepareError, match="dimensions"):
            self.reduce(kernels, ones, ones, ones, source=kernels.arena("FLOAT32", *ones))


class TestStablehloReduceWindow:
    def reduce(self, kernels, *, source=None, initial="FLOAT32", result="FLOAT32", **options):
        operands = [source or kernels.arena("FLOAT32", 10, 9), kernels.arena(initial)]
        return kernels.prepare("STABLEHLO_REDUCE_WINDOW", operands, [kernels.arena(result)], **options)

    def reduce_with(self, kernels, **options):
        empty = dict.fromkeys(("window_strides", "base_dilations", "window_dilations", "padding"), ())
        return self.reduce(kernels, **{**empty, **options})

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, (8, 7)),
            ({"window_strides": (2, 3)}, (4, 3)),
            ({"base_dilations": (2, 1)}, (17, 7)),
            ({"window_dilations": (1, 4)}, (8, 1)),
            ({"padding": (1, 1, 0, -6)}, (10, 1)),
            ({"padding": (0, 0, 0, -9)}, (8, 0)),
        ],
    )
    def test_shape(self, kernels, options, expected):
        kernels.assert_static(self.reduce_with(kernels, window_dimensions=(3, 3), **options), expected)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"window_dimensions": ()}, "the windows have no dimensions or too many dimensions"),
            ({"window_dimensions": (3,)}, "sizes, strides or dilations are not positive"),
            ({"window_dimensions": (0, 3)}, "sizes, strides or dilations are not positive"),
            ({"window_dimensions": (3, 3), "window_strides": (1,)}, "an option has 1 number, not 2"),
            ({"window_dimensions": (3, 3), "window_strides": (0, 1)}, "sizes, strides or dilations are not positive"),
            ({"window_dimensions": (3, 3), "padding": (0, 0)}, "an option has 2 numbers, not 4"),
            ({"window_dimensions": (3, 3), "padding": (-11, 0, 0, 0)}, "dilation and cropping result in a negative size"),
        ],
    )
    def test_refuses_other_options(self, kernels, options, message):
        with pytest.raises(PrepareError, match=message):
            self.reduce_with(kernels, **options)

    def test_refuses_other_types(self, kernels):
        with pytest.raises(PrepareError, match="initial"):
            self.reduce(kernels, initial="INT32")
        with pytest.raises(PrepareError, match="output"):
            self.reduce(kernels, result="INT32")


class TestScatter:
    def scatter(self, computation, *, indices="INT32", updates=(5, 3), nodes=1, **options):
        """Prepare a graph of one STABLEHLO_SCATTER; return its result or raise what its kernel does."""
        builder = ModelBuilder()
        main = builder.subgraph()
        source = main.input("source", "FLOAT32", [7, 3])
        inputs = [source, main.input("indices", indices, [5, 1]), main.input("updates", "FLOAT32", updates)]
        result = main.tensor("result", "FLOAT32", [1])
        region = builder.subgraph("region")
        scalars = [region.input(name, "FLOAT32", []) for name in ("old", "new")]
        for position in range(nodes):
            region.node(computation, scalars, [region.tensor(f"result {position}", "FLOAT32", [])])
        defaults = {
            "update_window_dims": [1],
            "inserted_window_dims": [0],
            "scatter_dims_to_operand_dims": [0],
            "index_vector_dim": 1,
            "update_computation_subgraph_index": region.index,
        }
        main.node("STABLEHLO_SCATTER", inputs, [result], options={**defaults, **options})
        main.outputs(result)
        graph = prepare(load(builder.bytes()))[0]
        return graph.failure.message if graph.failure else graph.tensors[result].shape

    @pytest.mark.parametrize("computation", ["STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"])
    def test_shape(self, computation):
        assert self.scatter(computation) == (7, 3)

    def test_without_computation_values_are_replaced(self):
        assert self.scatter("STABLEHLO_ADD", nodes=0) == (7, 3)

    def test_refuses_other_computations(self):
        assert "STABLEHLO_AND" in self.scatter("STABLEHLO_AND")
        assert "more than one" in self.scatter("STABLEHLO_ADD", nodes=2)
        assert "no subgraph" in self.scatter("STABLEHLO_ADD", update_computation_subgraph_index=2)

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"update_window_dims": [0, 1, 2]}, "updates"),
            ({"inserted_window_dims": [0, 1, 2]}, "inserted"),
            ({"scatter_dims_to_operand_dims": [0, 1, 2]}, "scattered"),
            ({"index_vector_dim": 3}, "index vector"),
            ({"indices": "UINT8"}, "UINT8"),
        ],
    )
    def test_refuses_options_and_operands_that_do_not_fit(self, options, reason):
        assert reason in self.scatter("STABLEHLO_ADD", **options)


def squares(builder, name, rank=2, node="SQUARE"):
    """Add a subgraph that applies an operator to its first input and ignores its second."""
    subgraph = builder.subgraph(name)
    inputs = [subgraph.input(f"{name} {position}", "FLOAT32", [1] * rank) for position in range(2)]
    result = subgraph.tensor(f"{name} result", "FLOAT32", [1])
    if node == "EXPAND_DIMS":
        subgraph.node(node, [inputs[0], subgraph.tensor("axis", "INT32", [], np.int32(0))], [result])
    else:
        subgraph.node(node, inputs[:1], [result])
    subgraph.outputs(result)
    return subgraph.index


def called_from(caller, subgraph_nodes):
    """Return the graphs of a model whose main subgraph has one node that calls others, each made of one node."""
    builder = ModelBuilder()
    main = builder.subgraph()
    operands = [main.input(name, "FLOAT32", [4, 5]) for name in ("x", "y")]
    result = main.tensor("result", "FLOAT32", [1])
    called = [squares(builder, f"called {node}", node=node) for node in subgraph_nodes]
    caller(main, operands, [result], called)
    main.outputs(result)
    return prepare(load(builder.bytes()))


class TestComposite:
    def call(self, main, operands, results, called):
        options = {"name": "odml.square", "decomposition_subgraph_index": called[0], "composite_attributes": b""}
        main.node("STABLEHLO_COMPOSITE", operands, results, options=options)

    def test_shapes_of_the_decomposition(self):
        main, decomposition = called_from(self.call, ["SQUARE"])
        assert main.tensors[2].shape == (4, 5)
        assert decomposition.tensors[0].shape == (4, 5)

    def test_inputs_of_the_decomposition(self):
        _, decomposition = called_from(self.call, ["SQUARE"])
        assert decomposition.inputs == (0, -1)
        assert decomposition.tensors[0].allocation is Allocation.CUSTOM


class TestCase:
    def call(self, main, operands, results, called):
        index = main.input("index", "INT32", [])
        main.node("STABLEHLO_CASE", [index, *operands], results, options={"branch_subgraph_indices": called})

    def test_branches_that_agree(self):
        main, first, second = called_from(self.call, ["SQUARE", "NEG"])
        assert main.dynamic is None
        assert main.tensors[2].shape == (4, 5)
        assert first.tensors[0].shape == second.tensors[0].shape == (4, 5)

    def test_branches_with_other_shapes_make_the_result_dynamic(self):
        main, *_ = called_from(self.call, ["SQUARE", "EXPAND_DIMS"])
        assert main.dynamic.tensor == 2
        assert main.dynamic.node == 0

    def test_every_other_subgraph_is_a_branch(self):
        def call(main, operands, results, called):
            self.call(main, operands, results, called)
            main.model.subgraph("unrelated")

        main, *_ = called_from(call, ["SQUARE"])
        assert "subgraph 2" in main.failure.message

    def test_refuses_a_case_without_branches(self):
        main, *_ = called_from(lambda main, operands, results, _: self.call(main, operands, results, []), ["SQUARE"])
        assert "branches" in main.failure.message

    def test_branches_take_scales_and_types_of_the_caller(self):
        builder = ModelBuilder()
        main = builder.subgraph()
        index, source = main.input("index", "INT32", []), main.input("x", "INT8", [2], scale=0.5, zero_point=3)
        result = main.tensor("result", "INT8", [2], scale=0.25)
        branch = builder.subgraph("branch")
        inside = branch.input("inside", "INT8", [2], scale=0.125)
        other = branch.tensor("other", "UINT8", [2])
        branch.node("NEG", [inside], [other])
        branch.outputs(other)
        main.node("STABLEHLO_CASE", [index, source], [result], options={"branch_subgraph_indices": [branch.index]})
        main.outputs(result)
        graph = prepare(load(builder.bytes()))[1]
        assert (graph.tensors[inside].scale, graph.tensors[inside].zero_point) == (0.5, 3)
        assert (graph.tensors[other].scale, graph.tensors[other].type) == (0.25, "INT8")
