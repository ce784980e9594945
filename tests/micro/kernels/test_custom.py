"""Cases for the custom operators that the runtime brings along."""

from __future__ import annotations

from flatbuffers import flexbuffers

from delegate_sim.micro.kernels.custom import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    CONSTANT,
    COUNT,
    OPTION,
    RANK,
    SHAPE,
    TYPE,
    VALUE,
    MicroTable,
    floats,
    found_code,
    int8,
    unrefused_checks,
)
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
OTHER = {"INT16": "INT32", "UINT32": "INT32", "INT32": "INT16", "BOOL": "INT16", "UINT64": "INT32"}
"""For each type of an operand, a type that the operator refuses."""


def options(**values):
    """Return custom options as a flexbuffer."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in values.items():
            builder.Int(name, value)
    return bytes(builder.Finish())


def add_cases(op, inputs, outputs, ranked, **custom):
    """Add an accepted node, and a variant for each operand of another type or of another rank.

    Operands are pairs of a type and a rank. ``ranked`` has the positions of the operands whose rank is checked, with the results
    after the inputs.
    """
    operands = [arena(kind, *[2] * rank) for kind, rank in (*inputs, *outputs)]
    count = len(inputs)
    accepted(op, operands[:count], operands[count:], **custom)
    variant(op, COUNT, inputs=[*operands[:count], operands[0]])
    for position, tensor in enumerate(operands):
        other_type = tensor._replace(type=OTHER[tensor.type])
        other_rank = arena(tensor.type, *[2] * (tensor.rank + 1))
        for code, wrong in ((TYPE, other_type), *([(RANK, other_rank)] if position in ranked else [])):
            changed = [wrong if place == position else other for place, other in enumerate(operands)]
            variant(op, code, inputs=changed[:count], outputs=changed[count:])


add_cases("SignalDelay", [("INT16", 1)], [("INT16", 1)], ())
add_cases("SignalEnergy", [("INT16", 1)], [("UINT32", 1)], (0, 1))
add_cases("SignalFftAutoScale", [("INT16", 1)], [("INT16", 1), ("INT32", 0)], (0, 1, 2))
add_cases("SignalFilterBank", [("UINT32", 1), *[("INT16", 1)] * 5], [("UINT64", 1)], range(7))
add_cases("SignalFilterBankLog", [("UINT32", 1)], [("INT16", 1)], (0, 1))
add_cases("SignalFilterBankSpectralSubtraction", [("UINT32", 1)], [("UINT32", 1)] * 2, (0, 1, 2))
add_cases("SignalFilterBankSquareRoot", [("UINT64", 1), ("INT32", 0)], [("UINT32", 1)], (0, 1, 2))
add_cases("SignalPCAN", [("UINT32", 1), ("UINT32", 1), ("INT16", 1)], [("UINT32", 1)], range(4))
add_cases("SignalStacker", [("INT16", 1)], [("INT16", 1), ("BOOL", 0)], (0, 1, 2))
add_cases("SignalWindow", [("INT16", 1), ("INT16", 1)], [("INT16", 1)], (1,))
variant("SignalWindow", RANK, inputs={0: arena("INT16")})
variant("SignalWindow", SHAPE, outputs=[arena("INT16", 2, 2)])
add_cases("SignalFramer", [("INT16", 1)], [("INT16", 2), ("BOOL", 0)], (2,), content=options(frame_step=2))
variant("SignalFramer", SHAPE, outputs=[arena("INT16", 2), arena("BOOL")])
variant("SignalFramer", OPTION, content=options(frame_step=3))

WORDS = arena("INT16", 4)
for op in ("SignalIrfft", "SignalRfft"):
    accepted(op, [WORDS], [WORDS], content=options(T=7, fft_length=4))
    variant(op, COUNT, outputs=[WORDS, WORDS])
    variant(op, SHAPE, outputs=[arena("INT16", 1, 4)])
    variant(op, OPTION, inputs=[floats(4)])
    variant(op, OPTION, content=options(T=1))
accepted("SignalOverlapAdd", [arena("INT16", 2, 4)], [WORDS], content=options(T=7))
variant("SignalOverlapAdd", COUNT, outputs=[WORDS, WORDS])
variant("SignalOverlapAdd", SHAPE, outputs=[arena("INT16", 2, 4)])
variant("SignalOverlapAdd", OPTION, content=options(T=0))
variant("SignalOverlapAdd", RANK, inputs=[WORDS], outputs=[arena("INT16")])

accepted("CIRCULAR_BUFFER", [int8(1, 1, 2, 4)], [int8(1, 5, 2, 4)])
variant("CIRCULAR_BUFFER", SHAPE, inputs=[int8(1, 2, 2, 4)])
variant("CIRCULAR_BUFFER", TYPE, outputs=[floats(1, 5, 2, 4)])
variant("CIRCULAR_BUFFER", TYPE, inputs=[floats(1, 1, 2, 4)], outputs=[floats(1, 5, 2, 4)])

WEIGHTS, TABLE_OF_VALUES = constant([1, 2], "INT8"), constant([0, 1, 5, 6], "UINT8")
accepted("TFLM_DECODE", [WEIGHTS, TABLE_OF_VALUES], [floats(4)])
variant("TFLM_DECODE", COUNT, inputs=[WEIGHTS])
variant("TFLM_DECODE", CONSTANT, inputs={0: int8(2)})
variant("TFLM_DECODE", VALUE, inputs={1: constant([0, 2, 5, 6], "UINT8")})
variant("TFLM_DECODE", VALUE, inputs={1: constant([3, 1, 5, 6], "UINT8")})

accepted("ethos-u", [WEIGHTS], [floats(4)], content=b"\1\4\1")
variant("ethos-u", COUNT, inputs=[])
variant("ethos-u", OPTION, content=b"")

DETECTION = "TFLite_Detection_PostProcess"
ANCHORS = constant([[0.0, 0.0, 1.0, 1.0]] * 6, "FLOAT32")
RESULTS = [floats(1, 2, 4), floats(1, 2), floats(1, 2), floats(1)]
accepted(DETECTION, [floats(1, 6, 4), floats(1, 6, 3), ANCHORS], RESULTS, content=options(num_classes=2, max_detections=2))
variant(DETECTION, None, inputs={1: floats(1, 6, 2)})
variant(DETECTION, COUNT, outputs=RESULTS[:3])
variant(DETECTION, RANK, inputs={0: floats(6, 4)})
variant(DETECTION, RANK, inputs={1: floats(6, 3)})
variant(DETECTION, RANK, inputs={2: floats(1, 6, 4)})
variant(DETECTION, TYPE, inputs={0: int8(1, 6, 4)})
variant(DETECTION, TYPE, inputs={1: int8(1, 6, 3)})
variant(DETECTION, SHAPE, inputs={0: floats(2, 6, 4)})
variant(DETECTION, SHAPE, inputs={1: floats(1, 6, 4)})
variant(DETECTION, VALUE, inputs={2: constant([[0.0, 0.0, 1.0, 0.0]] * 6, "FLOAT32")})


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
