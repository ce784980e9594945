"""The target of the rules, ML Drift's view of shapes, and failures of models with only supported nodes.

The target is only a release, because no backend or option changes a verdict. Shapes are mapped to batch, height, width and
channels.

Each rules module may define ``BUILD_PROBLEMS`` for every backend, ``UNSHARED_PROBLEMS`` for runs without
``constant_tensor_sharing``, ``WEBGPU_PROBLEMS`` for WebGPU, and ``FORMER_PROBLEMS`` for older releases. The problems with WebGPU
were found with the binary of LiteRT 2.3, and the problems of older releases with their wheels.

Source: ``GetOpsToReplaceWithOptions`` and each parser's ``Parse`` (``ml_drift_delegate/tflite/model_builder.cc``), and
``ObjectReader`` (``ml_drift_delegate/tflite/object_reader.cc``). A failed check in these functions ends the process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...graph.graph import Graph, NodeView
from ...model.model import Model, Node, Tensor
from ...refusal import Phrase, Refusal, node_place
from ...releases.catalogue import Release, ReleaseNote, parse_release, release_note
from ...rules.kinds import NOT_ACCELERATED, Kind, kinds_in
from ...rules.rule import Check

OLDEST, _SECOND, THIRD, NEWEST_MEASURED, _DEVELOPMENT = (
    parse_release(f"litert-{version}") for version in ("2.1.3", "2.1.5", "2.2.0", "2.3.0", "2.4")
)
MEASURED = (OLDEST, _SECOND, THIRD, NEWEST_MEASURED, _DEVELOPMENT)
"""The measured releases, oldest first."""

BUILDS_CHECKED = _SECOND
"""The oldest release for which it was checked whether ML Drift can create its kernels."""


def rules_of(release: Release) -> Release:
    """Return the newest measured release up to ``release``, or the oldest measured release."""
    return next((measured for measured in reversed(MEASURED) if release.is_at_least(measured)), OLDEST)


def release_notes(release: Release) -> Iterator[ReleaseNote]:
    """Yield a note if ``release`` was not measured. The note names the release that is simulated instead."""
    note = release_note(release)
    if note is not None:
        yield note
    if not release.is_at_least(BUILDS_CHECKED):
        yield ReleaseNote(f"it was not checked before {BUILDS_CHECKED} whether {{release}} can create kernels", release)
    simulated = rules_of(release)
    if simulated.order == release.order:
        return
    if not release.is_at_least(OLDEST):
        instead = f"the rules of {OLDEST}, the oldest measured release, are used instead"
        yield ReleaseNote(f"the rules of mldrift in {{release}} are not known; {instead}", release)
    else:
        instead = f"the rules of {simulated}, the last measured release before {release}, are used instead"
        yield ReleaseNote(f"the rules of mldrift in {{release}} were not measured; {instead}", release)


def as_measured(*checks: Check[object]) -> tuple[Check[object], ...]:
    """Return copies of the checks whose release ranges start and end at measured releases.

    Shared checks have release ranges from the runtime's sources. A change between two measured releases is assumed to be in the
    later one. Checks that apply to no measured release are omitted.
    """
    return tuple([_as_measured(check) for check in checks if check.withdrawn is None or not OLDEST.is_at_least(check.withdrawn)])


@functools.cache
def _as_measured(check: Check[object]) -> Check[object]:
    if check.introduced is None and check.withdrawn is None:
        return check
    return replace(check, introduced=_dated(check.introduced), withdrawn=_dated(check.withdrawn))


def _dated(release: Release | None) -> Release | None:
    # The first measured release from ``release`` on, or None (no limit) up to the oldest measured release.
    if release is None or OLDEST.is_at_least(release):
        return None
    return next(measured for measured in MEASURED if measured.is_at_least(release))


def groups_of(source: tuple[int, ...], weights: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of groups of a CONV_2D (0 unless all ranks are 4), and each group's input and output channels."""
    if len(source) != 4 or len(weights) != 4 or len(result) != 4 or weights[3] <= 0 or source[3] < weights[3]:
        return 0, 0, 0
    groups = source[3] // weights[3]
    return groups, weights[3], result[3] // groups


def are_groups_split(source: tuple[int, ...], weights: tuple[int, ...], result: tuple[int, ...]) -> bool:
    """Return whether ML Drift splits a CONV_2D with constant weights into one convolution for each group."""
    groups, inputs, outputs = groups_of(source, weights, result)
    is_depthwise = inputs == 1 and outputs == 1
    return groups > 1 and not is_depthwise and (inputs % 4 > 0 or outputs % 4 > 0)


def name_of(graph: Graph, tensor: Tensor) -> str:
    """Return the name of a tensor in ML Drift's messages."""
    return _names(graph.model, graph.index).get(tensor.index, tensor.name)


@functools.lru_cache(maxsize=8)
def _names(model: Model, subgraph: int) -> Mapping[int, str]:
    signatures = [signature for signature in model.signatures if signature.subgraph == subgraph]
    return {
        index: name for signature in signatures for side in (signature.inputs, signature.outputs) for name, index in side.items()
    }


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
    """Return the failure of a subgraph that does not become the single kernel of the hint. The nodes ``left`` stay on the CPU."""
    node = left[0].index if left else None
    return replace(HINT_NOT_MET.failure(node=node, problem=_left_over(left)), log_lines=(_HINT_LINE,))


def not_fully_accelerated(left: Sequence[Node]) -> Refusal:
    """Return the failure of a model without the CPU as accelerator. The nodes ``left`` stay on the CPU."""
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


def problem_if(kind: Kind, position: int, condition: Callable[[NodeView], bool]) -> Callable[[NodeView], Iterator[Refusal]]:
    """Return a function that yields a problem of the operand at ``position`` if a node meets a condition."""
    return lambda node: iter((kind.failure(node.input(position)),) if condition(node) else ())


def _is_blockwise(node: NodeView) -> bool:
    weights = node.input(1)
    return weights.quantization is not None and weights.quantization.kind == "blockwise"


blockwise_weights = problem_if(WEIGHTS, 1, _is_blockwise)
"""Yield a problem if the second input has one scale for each block of elements."""
