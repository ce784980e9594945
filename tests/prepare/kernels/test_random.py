"""Prepare of operators that generate random numbers."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError


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
