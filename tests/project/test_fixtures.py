"""The models in fixtures: that they can be remade, what is expected of them, and that together they leave little out."""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import flatbuffers
import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from fixtures import golden
from fixtures.golden import TARGETS
from fixtures.make import FIXTURES, MODELS, UNLOADABLE

SIZE_LIMIT = 300_000


class Coverage(NamedTuple):
    """The least that the fixtures show of a delegate; the tests of its rules have nodes for the rest."""

    refused: float
    """The share of its checks, by operator, code and kind, that refuse a node."""
    untaken: str = ""
    """The operators with a rule but without an accepted node."""
    outcomes: frozenset[str] = frozenset({"delegated", "none", "refused", "restored"})


_VX_UNTAKEN = """
    BIDIRECTIONAL_SEQUENCE_RNN CONV_3D SCATTER_ND UNIDIRECTIONAL_SEQUENCE_LSTM WRNN_BIDI_SEQGRU vsi-npu
"""
_PLUGIN_OUTCOMES = frozenset({"delegated", "none", "refused"})
"""Those of compiler plugins, which see the file before the runtime loads or prepares anything."""
_GOOGLE_UNTAKEN = """
    ASSIGN_VARIABLE BIDIRECTIONAL_SEQUENCE_LSTM BROADCAST_ARGS BUCKETIZE CALL_ONCE COMPLEX_ABS CONV_3D CONV_3D_TRANSPOSE DENSIFY
    FAKE_QUANT HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE IMAG LOCAL_RESPONSE_NORMALIZATION MATRIX_DIAG
    MATRIX_SET_DIAG MULTINOMIAL NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 RANDOM_STANDARD_NORMAL RANDOM_UNIFORM RANK
    READ_VARIABLE REAL REDUCE_PROD REVERSE_SEQUENCE RFFT2D SEGMENT_SUM SHAPE SPARSE_TO_DENSE STABLEHLO_COMPOSITE
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SCATTER SVDF UNIDIRECTIONAL_SEQUENCE_RNN UNIQUE UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN
    UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM VAR_HANDLE WHERE
"""
COVERAGE = {
    "nnapi": Coverage(1.0),
    "gpu": Coverage(
        0.38,
        """
            Convolution2DTransposeBias EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL MaxPoolingWithArgmax2D MaxUnpooling2D NOT_EQUAL
            Resampler
            """,
    ),
    "mldrift": Coverage(
        0.16,
        """
            BITCAST BITWISE_XOR Convolution2DTransposeBias DYNAMIC_UPDATE_SLICE MaxPoolingWithArgmax2D MaxUnpooling2D RIGHT_SHIFT
            Resampler STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CBRT STABLEHLO_CLAMP STABLEHLO_COMPOSITE STABLEHLO_REMAINDER
            STABLEHLO_SHIFT_LEFT custom_call.GroupNorm custom_call.LayerNorm custom_call.PixelShuffle custom_call.RmsNorm
            custom_call.absolute_positional_embedding custom_call.rotary_positional_embedding gated_delta_update moe
            odml.cache_update odml.qkv_norm_rope odml.rope odml.runtime_bmm odml.sdpa_transposed odml.short_conv_step odml.swiglu
            AlignmentPointsToTransformMatrix KeepIfMax2D Landmarks2TransformMatrix Landmarks2TransformMatrixV2
            RoIToTransformMatrix TransformLandmarks TransformTensor TransformTensorBilinear
            """,
        frozenset({"delegated", "none", "refused"}),
    ),
    "vx": Coverage(0.19, _VX_UNTAKEN, frozenset({"delegated", "refused"})),
    "vx-nxp": Coverage(0.18, _VX_UNTAKEN, frozenset({"delegated", "refused"})),
    "ethosu-imx93": Coverage(
        0.1,
        """
            ABS ARG_MAX BATCH_TO_SPACE_ND EXPAND_DIMS GELU PACK SHAPE SLICE SPACE_TO_BATCH_ND SPLIT SPLIT_V SQUEEZE TRANSPOSE
            TRANSPOSE_CONV UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK ethos-u
            """,
        frozenset({"delegated", "none", "refused"}),
    ),
    "neutron-imx95": Coverage(0.2, "FULLY_CONNECTED NeutronGraph PAD", frozenset({"delegated", "none", "refused"})),
    "coreml": Coverage(0.55),
    "hexagon": Coverage(
        0.47,
        "ARG_MAX ARG_MIN DEPTH_TO_SPACE NEG PACK SLICE SPACE_TO_DEPTH TRANSPOSE TRANSPOSE_CONV",
        frozenset({"delegated", "none", "refused"}),
    ),
    "armnn": Coverage(0.19, "AveragePool3D CONV_3D FILL MaxPool3D RELU_N1_TO_1"),
    "teflon": Coverage(0.68, outcomes=frozenset({"delegated", "none", "refused"})),
    "edgetpu": Coverage(0.0, "edgetpu-custom-op", frozenset({"none", "refused"})),
    "xnnpack": Coverage(
        0.24,
        """
            Convolution2DTransposeBias LEAKY_RELU MaxPoolingWithArgmax2D MaxUnpooling2D moe STABLEHLO_COMPOSITE TRANSPOSE_CONV
            odml.scaled_dot_product_attention
            """,
    ),
    "npu-google": Coverage(0.2, _GOOGLE_UNTAKEN, _PLUGIN_OUTCOMES),
    "npu-intel": Coverage(0.3, "CONV_3D RANGE REDUCE_ANY STABLEHLO_COMPOSITE", _PLUGIN_OUTCOMES),
    "npu-mediatek": Coverage(0.12, "STABLEHLO_COMPOSITE", _PLUGIN_OUTCOMES),
    "npu-samsung": Coverage(0.0, outcomes=_PLUGIN_OUTCOMES),
}


@functools.cache
def load(name):
    return delegate_sim.load(MODELS / f"{name}.tflite")


def test_the_folders_hold_nothing_else():
    assert sorted(path.name for path in MODELS.iterdir()) == sorted(f"{name}.tflite" for name in FIXTURES)
    assert sorted(path.stem for path in golden.EXPECTED.iterdir()) == sorted(DELEGATE_NAMES) == sorted(TARGETS)


def test_the_models_are_small():
    assert sum(path.stat().st_size for path in MODELS.iterdir()) < SIZE_LIMIT


@pytest.mark.parametrize("name", FIXTURES)
def test_a_model_is_what_the_script_makes_each_time(name):
    made = FIXTURES[name]().bytes()
    assert FIXTURES[name]().bytes() == made
    if tuple(map(int, flatbuffers.__version__.split(".")[:2])) < (25, 12):
        pytest.skip("flatbuffers before 25.12 lays out the same tables in other bytes")
    assert (MODELS / f"{name}.tflite").read_bytes() == made


@pytest.fixture(scope="module", params=DELEGATE_NAMES)
def results(request):
    """The name of a delegate, and its runs with each fixture."""
    return request.param, {name: golden.runs(load(name), request.param) for name in FIXTURES}


def test_reports_are_as_expected(results):
    delegate, runs = results
    expected = golden.read(delegate)
    assert list(expected) == list(FIXTURES)
    for name in FIXTURES:
        assert golden.expected_runs(runs[name], delegate) == expected[name], name


@pytest.mark.parametrize("name", FIXTURES)
def test_the_interpreter_prepares_a_model(name):
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="the real runtime is not installed")

    def allocate():
        resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter.Interpreter(str(MODELS / f"{name}.tflite"), experimental_op_resolver_type=resolver).allocate_tensors()

    if name in UNLOADABLE:
        with pytest.raises((ValueError, RuntimeError), match=UNLOADABLE[name]):
            allocate()
    else:
        allocate()


class Findings(NamedTuple):
    """The features that all runs of all fixtures with one delegate show together."""

    delegate: str
    outcomes: set[str]
    taken: set[str]
    """The operators with a supported node."""
    refused: set[tuple[str, str, str]]
    """Operator, code and kind of every reason."""


@pytest.fixture(scope="module")
def findings(results):
    delegate, runs = results
    found = Findings(delegate, set(), set(), set())
    for entry in itertools.chain.from_iterable(runs.values()):
        found.outcomes.add(entry["outcome"])
        for node in itertools.chain.from_iterable(subgraph["nodes"] for subgraph in entry["subgraphs"]):
            if node["supported"]:
                found.taken.add(node["op"])
            found.refused.update((node["op"], reason["code"], reason["kind"]) for reason in node["reasons"])
    return found


def test_outcomes_that_are_possible_are_there(findings):
    assert findings.outcomes == COVERAGE[findings.delegate].outcomes


def test_operators_with_rules_are_taken_somewhere(findings):
    untaken = set(find_delegate(findings.delegate).rules.rules) - findings.taken
    assert untaken == set(COVERAGE[findings.delegate].untaken.split())


def test_checks_refuse_a_node_somewhere(findings):
    book = find_delegate(findings.delegate).rules
    refused = {(op, code, "" if book.has_native_messages else kind) for op, code, kind in findings.refused}
    checks = {
        (op, book.code_of(check.kind), "" if book.has_native_messages else check.native or book.native_of(check.kind))
        for op, rule in book.rules.items()
        for check in rule.checks
    }
    assert len(checks & refused) >= COVERAGE[findings.delegate].refused * len(checks), sorted(checks - refused)
