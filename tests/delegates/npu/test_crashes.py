"""Models that make LiteRT crash."""

from __future__ import annotations

from tests.support.delegates.npu_models import SHAPE, run, with_composites


def crash_warned(builder):
    return any("will crash" in warning for warning in run(builder, "npu-mediatek")["warnings"])


def test_two_composites_with_one_body_crash():
    assert crash_warned(with_composites([("odml.rms_norm", 1, b""), ("other", 1, b"")], [["RELU"]]))
    assert not crash_warned(with_composites([("odml.rms_norm", 1, b""), ("other", 2, b"")], [["RELU"], ["RELU"]]))


def test_a_result_of_an_inlined_body_that_nobody_reads_crashes():
    def unread(name):
        builder = with_composites([(name, 1, b"")], [["RELU"]])
        body = builder._subgraphs[1]
        body.node("TANH", (0,), (body.tensor("unread", "FLOAT32", SHAPE),))
        return builder

    assert crash_warned(unread("other"))
    assert not crash_warned(unread("odml.rms_norm"))
