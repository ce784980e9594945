"""Prepare of padding."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError

REFLECT, SYMMETRIC = 0, 1
"""Values of the schema's MirrorPadMode."""


class TestPad:
    PADDINGS = ((0, 1), (2, 0))

    def test_shape(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(self.PADDINGS, "INT64")]
        kernels.assert_static(kernels.prepare("PAD", operands, [kernels.arena("INT8")]), (3, 5))

    def test_fill_value(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(self.PADDINGS), kernels.constant([1], "INT8")]
        kernels.assert_static(kernels.prepare("PADV2", operands, [kernels.arena("INT8")]), (3, 5))

    @pytest.mark.parametrize(
        ("value", "kind", "message"),
        [([1, 2], "INT8", "the fill value is not a single number"), (1, "UINT8", "input and fill value have different types")],
    )
    def test_refuses_other_fill_values(self, kernels, value, kind, message):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(self.PADDINGS), kernels.constant(value, kind)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("PADV2", operands, [kernels.arena("INT8")])

    @pytest.mark.parametrize(
        ("paddings", "message"),
        [
            ([0, 1, 2, 0], "the paddings are not pairs"),
            ([[0, 1]], "the paddings do not have one pair for each dimension"),
            ([[0, -1], [2, 0]], "a padding is negative or too large"),
        ],
    )
    def test_refuses_other_paddings(self, kernels, paddings, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("PAD", [kernels.arena("INT8", 2, 3), kernels.constant(paddings)], [kernels.arena("INT8")])

    def test_refuses_six_dimensions(self, kernels):
        operands = [kernels.arena("INT8", *[1] * 6), kernels.constant([[0, 0]] * 6)]
        with pytest.raises(PrepareError, match="5 dimensions"):
            kernels.prepare("PAD", operands, [kernels.arena("INT8")])

    def test_unknown_paddings_make_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT32", 2, 2)]
        kernels.assert_dynamic(kernels.prepare("PAD", operands, [kernels.arena("INT8")]), cause=1)

    def test_scalar_input_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8"), kernels.constant([[0, 0]])]
        kernels.assert_dynamic(kernels.prepare("PAD", operands, [kernels.arena("INT8")]), cause=None)


class TestMirrorPad:
    def pad(self, kernels, paddings, **options):
        return kernels.prepare("MIRROR_PAD", [kernels.arena("INT8", 2, 3), paddings], [kernels.arena("INT8")], **options)

    def test_shape(self, kernels):
        kernels.assert_static(self.pad(kernels, kernels.constant([[1, 1], [0, 2]]), mode=REFLECT), (4, 5))

    @pytest.mark.parametrize(("paddings", "mode"), [([[2, 0], [0, 0]], REFLECT), ([[0, 0], [0, 4]], SYMMETRIC)])
    def test_refuses_more_than_there_is_to_mirror(self, kernels, paddings, mode):
        with pytest.raises(PrepareError, match="too wide"):
            self.pad(kernels, kernels.constant(paddings), mode=mode)

    def test_symmetric_mirrors_the_border_too(self, kernels):
        kernels.assert_static(self.pad(kernels, kernels.constant([[2, 0], [0, 3]]), mode=SYMMETRIC), (4, 6))

    @pytest.mark.parametrize("options", [{}, {"mode": 2}])
    def test_refuses_unknown_modes(self, kernels, options):
        with pytest.raises(PrepareError, match="mode"):
            self.pad(kernels, kernels.constant([[0, 0], [0, 0]]), **options)

    def test_unknown_paddings_make_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.pad(kernels, kernels.arena("INT32", 2, 2), mode=REFLECT), cause=1)
