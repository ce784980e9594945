"""Prepare of operators that fill tensors, also with random numbers."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.model.model import Allocation
from delegate_sim.prepare.preparation import prepare
from delegate_sim.prepare.tensors import PrepareError
from fixtures.builder import ModelBuilder


class TestBroadcast:
    def test_broadcast_to(self, kernels):
        operands = [kernels.arena("INT8", 3, 1), kernels.constant([2, 3, 4], "INT64")]
        kernels.assert_static(kernels.prepare("BROADCAST_TO", operands, [kernels.arena("INT8")]), (2, 3, 4))

    @pytest.mark.parametrize(
        ("shape", "message"),
        [
            ([3], "the shape has fewer dimensions than the input"),
            ([2, 1], "the input cannot be broadcast to the shape"),
            ([[3, 1]], "the shape is not a vector"),
        ],
    )
    def test_broadcast_to_refuses_other_shapes(self, kernels, shape, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("BROADCAST_TO", [kernels.arena("INT8", 3, 1), kernels.constant(shape)], [kernels.arena("INT8")])

    def test_broadcast_to_an_unknown_shape_is_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 3, 1), kernels.arena("INT32", 2)]
        kernels.assert_dynamic(kernels.prepare("BROADCAST_TO", operands, [kernels.arena("INT8")]), cause=1)

    def test_broadcast_args_of_known_shapes_is_known(self, kernels):
        operands = [kernels.persistent([2, 1, 1]), kernels.constant([3, 1])]
        kernels.assert_persistent(kernels.prepare("BROADCAST_ARGS", operands, [kernels.arena("INT32")]), [2, 3, 1])

    def test_broadcast_args_of_an_unknown_shape(self, kernels):
        operands = [kernels.arena("INT32", 3), kernels.constant([3, 1])]
        kernels.assert_static(kernels.prepare("BROADCAST_ARGS", operands, [kernels.arena("INT32")]), (3,))


class TestTile:
    def test_shape(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant([2, 0])]
        kernels.assert_static(kernels.prepare("TILE", operands, [kernels.arena("INT8")]), (4, 0))

    def test_negative_sizes_of_strings_are_refused_as_well(self, kernels):
        string = kernels.arena("STRING", -1, 4, allocation=Allocation.CONSTANT)
        with pytest.raises(PrepareError, match="the result has a negative size"):
            kernels.prepare("TILE", [string, kernels.constant([1, 2])], [kernels.arena("STRING")])

    def test_known_operands_give_a_known_result(self, kernels):
        operands = [kernels.constant([1, 2]), kernels.constant([2], "INT64")]
        kernels.assert_persistent(kernels.prepare("TILE", operands, [kernels.arena("INT32")]), [1, 2, 1, 2])

    def test_known_strings_are_dynamic(self, kernels):
        string = kernels.arena("STRING", 2, allocation=Allocation.CONSTANT)
        node = kernels.prepare("TILE", [string, kernels.constant([2])], [kernels.arena("STRING")])
        kernels.assert_dynamic(node, cause=None)
        assert node.output().shape == (4,)

    @pytest.mark.parametrize(
        ("multiples", "message"),
        [
            ([2], "the number of multiples differs from the number of dimensions"),
            ([2, -1], "a multiple is negative"),
            ([2**30, 1], "a size of the result overflows"),
        ],
    )
    def test_refuses_other_multiples(self, kernels, multiples, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("TILE", [kernels.arena("INT8", 2, 3), kernels.constant(multiples)], [kernels.arena("INT8")])

    def test_a_negative_size_is_refused_whatever_the_other_sizes(self, kernels):
        source = kernels.constant([1])._replace(shape=(-1, 2**30))
        with pytest.raises(PrepareError, match="negative size"):
            kernels.prepare("TILE", [source, kernels.constant([1, 1])], [kernels.arena("INT32")])

    def test_unknown_multiples_make_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT32", 2)]
        kernels.assert_dynamic(kernels.prepare("TILE", operands, [kernels.arena("INT8")]), cause=1)

    def test_no_more_is_computed_in_a_preparation_than_a_limit(self, monkeypatch):
        monkeypatch.setattr("delegate_sim.prepare.kernel._MOST_COMPUTED", 10)
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        for number in range(3):
            operands = [graph.tensor("x", "INT32", [1], [number]), graph.tensor("times", "INT32", [1], [4])]
            graph.node("TILE", operands, [graph.tensor("y", "INT32", [4])])
        prepared = prepare(load(builder.bytes()))[0]
        found = [prepared.tensors[node.outputs[0]] for node in prepared.nodes]
        assert [tensor.allocation for tensor in found] == [Allocation.PERSISTENT] * 3
        assert [tensor.value is not None for tensor in found] == [True, True, False]

    def test_large_results_are_not_computed(self, kernels):
        node = kernels.prepare("TILE", [kernels.constant([1]), kernels.constant([2**30])], [kernels.arena("INT32")])
        assert node.output().allocation is Allocation.PERSISTENT
        with pytest.raises(PrepareError, match="not known"):
            node.output().value()


class TestFill:
    def test_shape(self, kernels):
        node = kernels.prepare("FILL", [kernels.persistent([2, 3]), kernels.constant(1, "INT8")], [kernels.arena("FLOAT32")])
        kernels.assert_static(node, (2, 3))
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("shape", "value", "message"),
        [([-1], 0, "has a negative size"), (3, 0, "the shape is not a vector"), ([3], [0], "the value is not a scalar")],
    )
    def test_refuses_other_operands(self, kernels, shape, value, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("FILL", [kernels.constant(shape), kernels.constant(value, "INT8")], [kernels.arena("INT8")])

    def test_unknown_shape_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT32", 2), kernels.constant(1, "INT8")]
        kernels.assert_dynamic(kernels.prepare("FILL", operands, [kernels.arena("INT8")]), cause=0)


class TestRange:
    @pytest.mark.parametrize(
        ("kind", "operands", "expected"),
        [
            ("INT32", (0, 5, 2), [0, 2, 4]),
            ("INT64", (3, 0, -1), [3, 2, 1]),
            ("INT32", (2, 2, 1), []),
            ("FLOAT32", (0, 1, 0.25), [0, 0.25, 0.5, 0.75]),
        ],
    )
    def test_known_operands_give_a_known_result(self, kernels, kind, operands, expected):
        node = kernels.prepare("RANGE", [kernels.constant(operand, kind) for operand in operands], [kernels.arena("BOOL")])
        kernels.assert_persistent(node, expected)
        assert node.output().type == kind

    @pytest.mark.parametrize(
        ("operands", "message"),
        [
            ((0, 5, 0), "the step is 0"),
            ((0, 5, -1), "the step leads away from the limit"),
            ((5, 0, 1), "the step leads away from the limit"),
        ],
    )
    def test_refuses_steps_that_do_not_arrive(self, kernels, operands, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("RANGE", [kernels.constant(operand) for operand in operands], [kernels.arena("INT32")])

    def test_unknown_operand_makes_the_result_dynamic(self, kernels):
        operands = [kernels.constant(0), kernels.arena("INT32"), kernels.constant(1)]
        kernels.assert_dynamic(kernels.prepare("RANGE", operands, [kernels.arena("INT32")]), cause=1)


class TestOneHot:
    def operands(self, kernels, depth, kind="FLOAT32"):
        return [kernels.arena("INT64", 2, 3), depth, kernels.constant(1, kind), kernels.constant(0, kind)]

    @pytest.mark.parametrize(("axis", "expected"), [(-1, (2, 3, 5)), (0, (5, 2, 3)), (1, (2, 5, 3))])
    def test_shape(self, kernels, axis, expected):
        operands = self.operands(kernels, kernels.constant(5), "INT8")
        node = kernels.prepare("ONE_HOT", operands, [kernels.arena("FLOAT32")], axis=axis)
        kernels.assert_static(node, expected)
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("depth", "axis", "message"),
        [
            (-1, 0, "the depth is negative"),
            ([1, 2], 0, "the depth is not a single number"),
            (5, 3, "the axis is out of range"),
            (5, -2, "the axis is out of range"),
        ],
    )
    def test_refuses_other_depths_and_axes(self, kernels, depth, axis, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("ONE_HOT", self.operands(kernels, kernels.constant(depth)), [kernels.arena("FLOAT32")], axis=axis)

    def test_refuses_float16(self, kernels):
        operands = self.operands(kernels, kernels.constant(5), "FLOAT16")
        with pytest.raises(PrepareError, match="FLOAT16"):
            kernels.prepare("ONE_HOT", operands, [kernels.arena("FLOAT16")], axis=-1)

    def test_unknown_depth_makes_the_result_dynamic(self, kernels):
        operands = self.operands(kernels, kernels.arena("INT32"))
        kernels.assert_dynamic(kernels.prepare("ONE_HOT", operands, [kernels.arena("FLOAT32")], axis=-1), cause=1)


@pytest.mark.parametrize("op", ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"])
class TestRandom:
    @pytest.mark.parametrize("known", ["constant", "persistent"])
    def test_shape(self, kernels, op, known):
        node = kernels.prepare(op, [getattr(kernels, known)([2, 0, 5])], [kernels.arena("FLOAT32", 1)])
        kernels.assert_static(node, (2, 0, 5))

    def test_unknown_shape_makes_the_result_dynamic(self, kernels, op):
        kernels.assert_dynamic(kernels.prepare(op, [kernels.arena("INT32", 3)], [kernels.arena("FLOAT32")]), cause=0)

    def test_refuses_other_shapes(self, kernels, op):
        for shape, message in (
            (kernels.constant([2], "INT64"), "tensor 0 is INT64"),
            (kernels.constant(2), "the shape is not a vector"),
            (kernels.constant([-2]), "has a negative size"),
        ):
            with pytest.raises(PrepareError, match=message):
                kernels.prepare(op, [shape], [kernels.arena("FLOAT32")])


class TestMultinomial:
    def multinomial(self, kernels, logits, count):
        return kernels.prepare("MULTINOMIAL", [logits, count], [kernels.arena("INT64")])

    def test_shape(self, kernels):
        logits = kernels.constant([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], "FLOAT32")
        kernels.assert_static(self.multinomial(kernels, logits, kernels.constant(7)), (3, 7))

    def test_unknown_logits_make_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.multinomial(kernels, kernels.arena("FLOAT32", 3, 2), kernels.constant(7)), cause=0)

    def test_unknown_count_makes_the_result_dynamic(self, kernels):
        logits = kernels.constant([[0.5, 0.5]], "FLOAT32")
        kernels.assert_dynamic(self.multinomial(kernels, logits, kernels.arena("INT32")), cause=1)

    def test_refuses_other_types(self, kernels):
        with pytest.raises(PrepareError, match="INT64"):
            self.multinomial(kernels, kernels.arena("FLOAT32", 3, 2), kernels.constant(7, "INT64"))
        with pytest.raises(PrepareError, match="FLOAT16"):
            self.multinomial(kernels, kernels.arena("FLOAT16", 3, 2), kernels.constant(7))
