"""Prepare of the custom operators that the runtime has kernels for."""

from __future__ import annotations

import pytest
from flatbuffers import flexbuffers

from delegate_sim.model.model import Allocation
from delegate_sim.prepare.tensors import PrepareError


class TestDetectionPostProcess:
    def post_process(self, kernels, options, *, anchors=None, results=None):
        inputs = [
            kernels.arena("FLOAT32", 1, 10, 4),
            kernels.arena("FLOAT32", 1, 10, 3),
            anchors or kernels.arena("FLOAT32", 10, 4),
        ]
        results = results or [kernels.arena("INT32", 7)] * 4
        return kernels.prepare("CUSTOM:TFLite_Detection_PostProcess", inputs, results, custom_options=flexbuffers.Dumps(options))

    def test_shapes_come_from_the_options(self, kernels):
        node = self.post_process(kernels, {"max_detections": 25, "max_classes_per_detection": 2})
        kernels.assert_static(node, (1, 50, 4), (1, 50), (1, 50), (1,))
        assert {node.output(position).type for position in range(4)} == {"FLOAT32"}

    def test_what_cannot_be_resized_stays(self, kernels):
        results = [kernels.arena("FLOAT32", 7)] * 4
        node = self.post_process(kernels, {"max_detections": -1, "max_classes_per_detection": 2}, results=results)
        kernels.assert_static(node, (7,), (7,), (7,), (1,))

    def test_refuses_other_operands(self, kernels):
        with pytest.raises(PrepareError, match="3 dimensions, not 2"):
            self.post_process(kernels, {}, anchors=kernels.arena("FLOAT32", 1, 10, 4))
        with pytest.raises(PrepareError, match="outputs"):
            self.post_process(kernels, {}, results=[kernels.arena("FLOAT32")] * 3)


class TestAudioSpectrogram:
    def spectrogram(self, kernels, source=None, result=None, **options):
        return kernels.prepare(
            "CUSTOM:AudioSpectrogram",
            [source or kernels.arena("FLOAT32", 16000, 2)],
            [result or kernels.arena("FLOAT32")],
            custom_options=flexbuffers.Dumps(options),
        )

    @pytest.mark.parametrize(
        ("window", "stride", "expected"), [(640, 320, (2, 49, 513)), (512, 512, (2, 31, 257)), (20000, 1, (2, 0, 16385))]
    )
    def test_shape(self, kernels, window, stride, expected):
        kernels.assert_static(self.spectrogram(kernels, window_size=window, stride=stride), expected)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"window_size": 1, "stride": 1}, "the window has 1 sample, fewer than 2"),
            ({"window_size": 4, "stride": 0}, "the stride is 0"),
            ({"stride": 1}, "the window has 0 samples, fewer than 2"),
        ],
    )
    def test_refuses_windows_without_size_or_step(self, kernels, options, message):
        with pytest.raises(PrepareError, match=message):
            self.spectrogram(kernels, **options)

    def test_refuses_other_operands(self, kernels):
        with pytest.raises(PrepareError, match="1 dimension, not 2"):
            self.spectrogram(kernels, kernels.arena("FLOAT32", 16000), window_size=4, stride=4)
        with pytest.raises(PrepareError, match="INT16"):
            self.spectrogram(kernels, kernels.arena("INT16", 16000, 1), window_size=4, stride=4)
        with pytest.raises(PrepareError, match="INT32"):
            self.spectrogram(kernels, result=kernels.arena("INT32"), window_size=4, stride=4)


class TestMfcc:
    def mfcc(self, kernels, *inputs, **options):
        return kernels.prepare("CUSTOM:Mfcc", inputs, [kernels.arena("FLOAT32")], custom_options=flexbuffers.Dumps(options))

    def test_shape(self, kernels):
        node = self.mfcc(kernels, kernels.arena("FLOAT32", 1, 49, 513), kernels.constant([16000]), dct_coefficient_count=40)
        kernels.assert_static(node, (1, 49, 40))

    def test_coefficients_left_out_are_none(self, kernels):
        node = self.mfcc(kernels, kernels.arena("FLOAT32", 1, 49, 513), kernels.constant(16000))
        kernels.assert_static(node, (1, 49, 0))

    def test_refuses_other_operands(self, kernels):
        spectrogram = kernels.arena("FLOAT32", 1, 49, 513)
        with pytest.raises(PrepareError, match="rate"):
            self.mfcc(kernels, spectrogram, kernels.constant([1, 2]))
        with pytest.raises(PrepareError, match="2 dimensions, not 3"):
            self.mfcc(kernels, kernels.arena("FLOAT32", 49, 513), kernels.constant(1))
        with pytest.raises(PrepareError, match="INT64"):
            self.mfcc(kernels, spectrogram, kernels.constant(1, "INT64"))


def test_hadamard_rotation_keeps_the_shape_of_the_file(kernels):
    node = kernels.prepare("CUSTOM:aeq.hadamard_rotation", [kernels.arena("FLOAT32", 1, 8)], [kernels.arena("FLOAT32", 1, 8)])
    kernels.assert_static(node, (1, 8))
    with pytest.raises(PrepareError, match="INT8"):
        kernels.prepare("CUSTOM:aeq.hadamard_rotation", [kernels.arena("INT8", 1, 8)], [kernels.arena("FLOAT32", 1, 8)])


class TestNumericVerify:
    def numeric_verify(self, kernels, quantized, reference):
        operands = [kernels.arena(quantized, 2, 3), kernels.arena(reference, 2, 3)]
        return kernels.prepare("CUSTOM:NumericVerify", operands, [kernels.arena("FLOAT16")])

    @pytest.mark.parametrize("kind", ["UINT8", "INT8", "INT16", "FLOAT16"])
    def test_result_is_kept_between_invocations(self, kernels, kind):
        result = self.numeric_verify(kernels, kind, "FLOAT32").output()
        assert (result.type, result.shape, result.allocation) == ("FLOAT32", (2, 3), Allocation.VARIABLE)

    def test_refuses_other_types(self, kernels):
        with pytest.raises(PrepareError, match="INT32"):
            self.numeric_verify(kernels, "INT32", "FLOAT32")
        with pytest.raises(PrepareError, match="FLOAT16"):
            self.numeric_verify(kernels, "INT8", "FLOAT16")
