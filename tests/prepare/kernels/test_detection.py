"""Prepare of the selection of detected boxes."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError


class TestNonMaxSuppression:
    def suppress(self, kernels, limit, *, is_soft=False, scores=None, boxes=None, outputs=None):
        thresholds = [kernels.constant(0.5, "FLOAT32")] * (3 if is_soft else 2)
        results = [kernels.arena("INT8", 1)] * (outputs or (3 if is_soft else 2))
        inputs = [boxes or kernels.arena("FLOAT32", 6, 4), scores or kernels.arena("FLOAT32", 6), limit, *thresholds]
        return kernels.prepare("NON_MAX_SUPPRESSION_V5", inputs, results)

    def test_shapes(self, kernels):
        node = self.suppress(kernels, kernels.constant(9))
        kernels.assert_static(node, (9,), ())
        assert [node.output(position).type for position in range(2)] == ["INT32", "INT32"]

    def test_soft_suppression_also_returns_scores(self, kernels):
        node = self.suppress(kernels, kernels.persistent(9), is_soft=True)
        kernels.assert_static(node, (9,), (9,), ())
        assert [node.output(position).type for position in range(3)] == ["INT32", "FLOAT32", "INT32"]

    def test_unknown_limit_makes_all_but_the_count_dynamic(self, kernels):
        node = self.suppress(kernels, kernels.arena("INT32"), is_soft=True)
        kernels.assert_dynamic(node, cause=2)
        assert [node.output(position).is_dynamic for position in range(3)] == [True, True, False]
        assert node.output(2).shape == ()

    def test_refuses_other_operands(self, kernels):
        limit = kernels.constant(9)
        with pytest.raises(PrepareError, match="boxes"):
            self.suppress(kernels, limit, boxes=kernels.arena("FLOAT32", 6, 5))
        with pytest.raises(PrepareError, match="score"):
            self.suppress(kernels, limit, scores=kernels.arena("FLOAT32", 5))
        with pytest.raises(PrepareError, match="INT64"):
            self.suppress(kernels, kernels.constant(9, "INT64"))
        with pytest.raises(PrepareError, match="scalar"):
            self.suppress(kernels, kernels.constant([9]))
        with pytest.raises(PrepareError, match="-1"):
            self.suppress(kernels, kernels.constant(-1))
        with pytest.raises(PrepareError, match="outputs"):
            self.suppress(kernels, limit, is_soft=True, outputs=2)
