"""Custom operators with a kernel in the runtime: detection, audio front ends, compressed constants and streaming."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...model.ethosu_programs import ETHOS_U
from ...model.precompiled import custom_options
from ...rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, OPERAND_VALUE, SHAPE
from ...rules.operands import INPUT, OUTPUT, Operand, at_least, operand, result
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, rank, typed
from ..checks import FLOAT32, INT8, INT16, INT32, ONE_TO_ONE, SAME_TYPES, integers
from ..target import MicroKernel, in_source

_MOST_ANCHOR_VALUES = 1 << 20
_SIZE_T = 4
"""The size of a ``size_t`` in a 32-bit build."""
_SIGNAL = "signal/micro/kernels"
_BOXES, _CLASSES, _ANCHORS = operand(0, "box encodings"), operand(1, "class predictions"), operand(2, "anchors")


def _option(node: NodeView, name: str) -> int:
    return custom_options(node.graph.model, node.node).integer(name) or 0


def _detection_scratch(node: NodeView) -> tuple[int, ...]:
    boxes, most = node.input(0).size(1), max(_option(node, "max_detections"), 0)
    scores = 4 * node.input(1).size(1) * node.input(1).size(2)
    classes = _option(node, "num_classes")
    per_detection = 4 * most * boxes
    return (
        boxes,
        16 * boxes,
        scores,
        4 * boxes,
        4 * boxes,
        per_detection,
        per_detection,
        4 * boxes,
        per_detection,
        4 * max(classes, most) * boxes,
        4 * min(boxes, most) * boxes,
    )


def _detection_sizes(node: NodeView) -> str | None:
    boxes, classes = node.input(0).shape, node.input(1).shape
    count = _option(node, "num_classes")
    if boxes[0] != 1 or boxes[2] < 4:
        return f"box encodings of shape {list(boxes)}"
    if classes[0] != 1 or classes[1] != boxes[1] or not count <= classes[2] <= count + 1:
        return f"class predictions of shape {list(classes)} for {boxes[1]} boxes and {count} classes"
    return None


def _flat_anchor(node: NodeView) -> str | None:
    anchors = node.input(2)
    values = node.value(anchors) if anchors.is_constant and anchors.type == "FLOAT32" else None
    if values is None or node.input(2).shape[1:] != (4,):
        return None
    sizes = [value for at, value in enumerate(values[:_MOST_ANCHOR_VALUES].tolist()) if at % 4 >= 2]
    return "an anchor without height or width" if min(sizes, default=1) <= 0 else None


_DETECTION = MicroKernel(
    in_source(
        "detection_postprocess.cc: DetectionPostProcessPrepare",
        operand_count(3, 4),
        rank(_BOXES, 3),
        rank(_CLASSES, 3),
        rank(_ANCHORS, 2),
    ),
    in_source(
        "detection_postprocess.cc: DetectionPostProcessEval",
        typed(_BOXES, FLOAT32),
        typed(_CLASSES, FLOAT32),
        check(
            SHAPE,
            "batch size 1, 4 coordinates per box, and num_classes classes, with or without the background class",
            _detection_sizes,
        ),
        check(OPERAND_VALUE, "anchors with height and width greater than 0", _flat_anchor),
    ),
    scratch=_detection_scratch,
)


def _ring_shape(node: NodeView) -> str | None:
    source, ring = node.input(0).shape, node.output(0).shape
    if len(source) == len(ring) == 4 and source[1] == 1 and source[0] == ring[0] and source[2:] == ring[2:]:
        return None
    return f"input of shape {list(source)} and output of shape {list(ring)}"


def _decode_pairs(node: NodeView) -> str | None:
    counts = len(node.node.inputs), len(node.node.outputs)
    return None if counts[1] and counts[0] == 2 * counts[1] else f"{counts[0]} inputs and {counts[1]} outputs"


def _decode_constants(node: NodeView) -> str | None:
    for position, tensor in enumerate(node.inputs):
        if not tensor.is_constant:
            return f"input {position} is not constant"
    return None


def _decode_types(node: NodeView) -> str | None:
    for position in range(1, len(node.node.inputs), 2):
        header = integers(node, node.input(position), 2)
        if header is None or len(header) < 2:
            continue
        if header[1] != 1:
            return f"version {header[1]} in input {position}"
        if header[0] not in (0, 1, 2):
            return f"type {header[0]} in input {position}"
    return None


def _ranks(*rows: tuple[Operand, int]) -> tuple[Check[object], ...]:
    return tuple(rank(which, count) for which, count in rows)


def _each_type(*rows: tuple[Operand, str]) -> tuple[Check[object], ...]:
    return tuple(typed(which, (name,)) for which, name in rows)


def _signal(file: str, prepare: str, evaluate: str, *checks: Check[object]) -> MicroKernel:
    return MicroKernel(in_source(f"{file}: {prepare}", *checks, folder=_SIGNAL), in_source(f"{file}: {evaluate}", folder=_SIGNAL))


_SECOND_OUTPUT = result(1)


def _element_type(node: NodeView) -> str | None:
    kind = custom_options(node.graph.model, node.node).integer("T")
    return {0: "FLOAT32", 2: "INT32", 7: "INT16"}.get(-1 if kind is None else kind)


def _declared_type(node: NodeView) -> str | None:
    kind = _element_type(node)
    if kind is None:
        return "no known type T"
    tensors = node.input(0), node.output(0)
    return None if all(tensor.type == kind for tensor in tensors) else f"{tensors[0].type} input and {tensors[1].type} output"


_DECLARED_TYPE = check(ATTRIBUTE, "an attribute T of FLOAT32, INT32 or INT16, and input and output of this type", _declared_type)


def _rank_step(difference: int, words: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        first, second = node.input(0).rank, node.output(0).rank
        return None if first + difference == second else f"input of rank {first} and output of rank {second}"

    return check(SHAPE, words, find)


_SAME_RANK = _rank_step(0, "input and output of the same rank")


def _frame_step(node: NodeView) -> str | None:
    step, size = _option(node, "frame_step"), node.input(0).size(-1)
    return None if step > 0 and size >= step and size % step == 0 else f"frame_step {step} with input of {size} samples"


def _fft_scratch(node: NodeView) -> tuple[int, ...]:
    length = _option(node, "fft_length")
    return (max(length, 0) * (2 if _element_type(node) == "INT16" else 4),)


_ALL_INT16 = _each_type((INPUT, "INT16"), (OUTPUT, "INT16"))
_WEIGHTS = tuple(operand(position) for position in range(1, 6))


def _without_options(node: NodeView) -> str | None:
    return None if node.node.custom_options and node.node.custom_options[1] else "no options"


def _address_tables(node: NodeView) -> tuple[int, ...]:
    tensors = len(node.node.inputs) + len(node.node.outputs)
    return 8 * tensors, _SIZE_T * tensors


KERNELS = {
    "CIRCULAR_BUFFER": MicroKernel(
        in_source(
            "circular_buffer_common.cc: CircularBufferPrepare",
            check(SHAPE, "an input with one slot, and an output with several slots", _ring_shape),
            SAME_TYPES,
            typed(INPUT, INT8),
        ),
        in_source("circular_buffer.cc: CircularBufferEval"),
    ),
    "SignalDelay": _signal("delay.cc", "DelayPrepare", "DelayEval", ONE_TO_ONE, *_ALL_INT16),
    "SignalEnergy": _signal(
        "energy.cc",
        "EnergyPrepare",
        "EnergyEval",
        ONE_TO_ONE,
        *_ranks((INPUT, 1), (OUTPUT, 1)),
        *_each_type((INPUT, "INT16"), (OUTPUT, "UINT32")),
    ),
    "SignalFftAutoScale": _signal(
        "fft_auto_scale_common.cc",
        "FftAutoScalePrepare",
        "FftAutoScalePrepare",
        operand_count(1, 2),
        *_ranks((INPUT, 1), (OUTPUT, 1), (_SECOND_OUTPUT, 0)),
        *_ALL_INT16,
        typed(_SECOND_OUTPUT, INT32),
    ),
    "SignalFilterBank": _signal(
        "filter_bank.cc",
        "FilterBankPrepare",
        "FilterBankEval",
        operand_count(6, 1),
        rank(INPUT, 1),
        typed(INPUT, ("UINT32",)),
        *[one for which in _WEIGHTS for one in (rank(which, 1), typed(which, INT16))],
        rank(OUTPUT, 1),
        typed(OUTPUT, ("UINT64",)),
    ),
    "SignalFilterBankLog": _signal(
        "filter_bank_log.cc",
        "FilterBankLogPrepare",
        "FilterBankLogEval",
        ONE_TO_ONE,
        *_ranks((INPUT, 1), (OUTPUT, 1)),
        *_each_type((INPUT, "UINT32"), (OUTPUT, "INT16")),
    ),
    "SignalFilterBankSpectralSubtraction": _signal(
        "filter_bank_spectral_subtraction.cc",
        "FilterBankSpectralSubtractionPrepare",
        "FilterBankSpectralSubtractionEval",
        operand_count(1, 2),
        *_ranks((INPUT, 1), (OUTPUT, 1), (_SECOND_OUTPUT, 1)),
        *_each_type((INPUT, "UINT32"), (OUTPUT, "UINT32"), (_SECOND_OUTPUT, "UINT32")),
    ),
    "SignalFilterBankSquareRoot": _signal(
        "filter_bank_square_root_common.cc",
        "FilterBankSquareRootPrepare",
        "FilterBankSquareRootPrepare",
        operand_count(2, 1),
        *_ranks((INPUT, 1), (operand(1), 0), (OUTPUT, 1)),
        *_each_type((INPUT, "UINT64"), (operand(1), "INT32"), (OUTPUT, "UINT32")),
    ),
    "SignalFramer": _signal(
        "framer.cc",
        "FramerPrepare",
        "FramerEval",
        operand_count(1, 2),
        _rank_step(1, "an output with one more dimension than input"),
        rank(_SECOND_OUTPUT, 0),
        *_ALL_INT16,
        typed(_SECOND_OUTPUT, ("BOOL",)),
        check(ATTRIBUTE, "a number of samples that is a multiple of frame_step", _frame_step),
    ),
    "SignalIrfft": _signal("irfft.cc", "IrfftPrepare", "IrfftEval", ONE_TO_ONE, _SAME_RANK, _DECLARED_TYPE),
    "SignalOverlapAdd": _signal(
        "overlap_add.cc",
        "OverlapAddPrepare",
        "OverlapAddEval",
        ONE_TO_ONE,
        _rank_step(-1, "an input with one more dimension than output"),
        _DECLARED_TYPE,
        rank(INPUT, at_least(2)),
    ),
    "SignalPCAN": _signal(
        "pcan.cc",
        "PcanPrepare",
        "PcanEval",
        operand_count(3, 1),
        *_ranks((INPUT, 1), (operand(1), 1), (operand(2), 1), (OUTPUT, 1)),
        *_each_type((INPUT, "UINT32"), (operand(1), "UINT32"), (operand(2), "INT16"), (OUTPUT, "UINT32")),
    ),
    "SignalRfft": MicroKernel(
        in_source("rfft.cc: RfftPrepare", ONE_TO_ONE, _SAME_RANK, _DECLARED_TYPE, folder=_SIGNAL),
        in_source("rfft.cc: RfftEval", folder=_SIGNAL),
        scratch=_fft_scratch,
    ),
    "SignalStacker": _signal(
        "stacker.cc",
        "StackerPrepare",
        "StackerEval",
        operand_count(1, 2),
        *_ranks((INPUT, 1), (OUTPUT, 1), (_SECOND_OUTPUT, 0)),
        *_ALL_INT16,
        typed(_SECOND_OUTPUT, ("BOOL",)),
    ),
    "SignalWindow": _signal(
        "window.cc",
        "WindowPrepare",
        "WindowEval",
        operand_count(2, 1),
        rank(INPUT, at_least(1)),
        rank(operand(1), 1),
        _SAME_RANK,
        *_each_type((INPUT, "INT16"), (operand(1), "INT16"), (OUTPUT, "INT16")),
    ),
    ETHOS_U: MicroKernel(
        in_source(
            "ethos_u/ethosu.cc: Prepare",
            operand_count(at_least(1)),
            check(ATTRIBUTE, "options, as Vela writes them", _without_options),
        ),
        in_source("ethos_u/ethosu.cc: Eval"),
        scratch=_address_tables,
    ),
    "TFLM_DECODE": MicroKernel(
        in_source(
            "decode.cc: Prepare",
            check(OPERAND_COUNT, "two inputs for each output", _decode_pairs),
            check(CONSTANT, "constant inputs", _decode_constants),
            check(OPERAND_VALUE, "version 1, and compression by lookup table, Huffman code or pruning", _decode_types),
        ),
        in_source("decode.cc: Eval"),
    ),
    "TFLite_Detection_PostProcess": _DETECTION,
}
