"""Failures of models with only supported nodes: problem codes and wording.

Each rules module may define ``BUILD_PROBLEMS`` for every backend, ``UNSHARED_PROBLEMS`` for runs without
``constant_tensor_sharing``, ``WEBGPU_PROBLEMS`` for WebGPU, and ``FORMER_PROBLEMS`` for older releases. The problems with WebGPU
were found with the binary of LiteRT 2.3, and the problems of older releases with their wheels.

Source: each parser's ``Parse`` (``ml_drift_delegate/tflite/model_builder.cc``) and ``ObjectReader``
(``ml_drift_delegate/tflite/object_reader.cc``). A failed check in these functions ends the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...graph.graph import NodeView
from ...model.model import Node
from ...refusal import Phrase, Refusal, node_place
from ...releases.catalogue import Release
from ...rules.kinds import NOT_ACCELERATED, kinds_in

KINDS = kinds_in("delegates/mldrift", "failures", is_shared=True)
"""The kinds of failures, by code. Their texts are in ``kinds.json``."""

LITERT_LOADER = KINDS["litert-loader"]
HINT_NOT_MET = KINDS["hint-not-met"]
CONSTANT_READ = KINDS["mldrift-build-constant"]
CONSTANT_TYPE = KINDS["mldrift-build-type"]
WEIGHTS = KINDS["mldrift-build-weights"]
AXES = KINDS["mldrift-build-axis"]
BATCH = KINDS["mldrift-build-batch"]
EMPTY = KINDS["mldrift-build-empty"]
CHANNELS = KINDS["mldrift-build-channels"]
LOWERED = KINDS["mldrift-build-composite"]

SIZE = KINDS["mldrift-build-size"]
WITHOUT_KERNEL = KINDS["mldrift-build-operator"]

GROUPS = KINDS["mldrift-build-groups"]
COPIED_INPUT = KINDS["mldrift-build-copy"]
INDICES = KINDS["mldrift-build-indices"]
COLUMNS = KINDS["mldrift-build-columns"]
BOUND_TYPE = KINDS["mldrift-build-bound-type"]

FORMER = frozenset({INDICES.name, COLUMNS.name})
"""The codes of failures that only older releases have. They were measured with the wheels of these releases."""

_HINT_LINE = "Hint fully delegated to single delegate is set, but the graph is not fully delegated."


def _left_over(left: Sequence[Node]) -> str | Phrase:
    if not left:
        return "its nodes form more than one delegate kernel"
    if len(left) == 1:
        return node_place(left[0].index, left[0].op, "node {node} ({op}) stays on the CPU")
    template = f"{len(left):,} nodes stay on the CPU (the first is node {{node}} ({{op}}))"
    return node_place(left[0].index, left[0].op, template)


def hint_not_met(left: Sequence[Node]) -> Refusal:
    """Return the failure of a subgraph that does not become the single delegate kernel that the hint requires.

    ``left`` has the nodes that stay on the CPU.
    """
    node = left[0].index if left else None
    return replace(HINT_NOT_MET.failure(node=node, problem=_left_over(left)), log_lines=(_HINT_LINE,))


def not_fully_accelerated(left: Sequence[Node]) -> Refusal:
    """Return the failure of a model with CPU nodes if the CPU is not among the accelerators.

    ``left`` has the nodes that stay on the CPU.
    """
    return NOT_ACCELERATED.failure(node=left[0].index, problem=_left_over(left))


BuildProblems = Mapping[str, Callable[[NodeView], Iterator[Refusal]]]
"""Functions that find build problems, by operator."""

FormerProblems = Mapping[str, tuple[Release, Callable[[NodeView], Iterator[Refusal]]]]
"""Functions that find build problems of older releases, by operator, with the first release without the problem."""

_ADDED_TYPES = ("FLOAT32", "FLOAT16", "INT8", "UINT8", "INT4", "INT2", "BOOL", "INT32")
"""The types of constants that can become nodes of ML Drift's model (``ObjectReader::AddConstInput``)."""


def constants_read(node: NodeView, *positions: int) -> Iterator[Refusal]:
    """Yield a problem for each constant input at ``positions``. The parser reads these inputs as runtime values."""
    for position in positions:
        if node.input(position).is_constant:
            yield CONSTANT_READ.failure(node.input(position))


def unread_constants(node: NodeView, positions: Iterable[int]) -> Iterator[Refusal]:
    """Yield a problem for each constant input with a type that ML Drift's model does not support."""
    for position in positions:
        if node.input(position).is_constant and node.input(position).type not in _ADDED_TYPES:
            yield CONSTANT_TYPE.failure(node.input(position))


def blockwise_weights(node: NodeView) -> Iterator[Refusal]:
    """Yield a problem if the second input has one scale for each block of elements."""
    weights = node.input(1)
    if weights.quantization is not None and weights.quantization.kind == "blockwise":
        yield WEIGHTS.failure(weights)
