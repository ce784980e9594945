"""The engine of the rules: the steps in which the delegate visits a node, and the outcome; and the backend CpuRef.

A step is a demand of the delegate itself, or a layer. For a layer, the delegate asks the backends in the order of the option
``backends`` until one of them accepts the layer (``FORWARD_LAYER_SUPPORT_FUNC``, ``ClassicDelegateUtils.hpp``). The visit ends
at the first step that fails.

CpuRef is reference code that runs on every processor, slowly. Source: ``RefLayerSupport.cpp`` (``src/backends/reference``) and
``LayerSupportRules.hpp`` (``src/backends/backendsCommon``), as a table in ``reference.json``. The backend reports all demands
that a layer does not meet, one in each line. No demand is about strides, padding or sizes. Some lists of types upstream have an
empty place, which stands for FLOAT16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from ...graph.graph import NodeView
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import SHAPE
from ...rules.rule import Check, Condition, OpRule, Source
from .compute_library import CPU_ACC
from .demands import ARMNN, Backend, LayerDemand, read_layers
from .tensors import PER_CHANNEL, Info, Query, Thrown

_FLOATS = ("FLOAT32", "FLOAT16")
_NUMBERS = (*_FLOATS, "INT8", "UINT8", "INT16")
_EIGHT_BITS = ("INT8", "UINT8", PER_CHANNEL)


def _has_eight_bits(call: Query) -> bool:
    return call.input.type in _EIGHT_BITS


def _bias_of_other_weights(call: Query) -> bool:
    weights: Info = call.part("weights")
    return call.bias is not None and call.bias.type != (weights.type if weights.type in _FLOATS else "INT32")


def _joined(name: str, call: Query) -> dict[str, str] | None:
    types, said = set(), []
    for info in call.inputs:
        said += ["input type not supported"] * (info.type not in (*_NUMBERS, "INT32"))
        said += ["input and output types mismatched."] * (info.type != call.output.type)
        types |= {info.type} if said else set()
    return {"types": ", ".join(sorted(types)), "said": f"\n{name}".join(said)} if said else None


def _split(call: Query) -> dict[str, str] | None:
    is_known = call.input.type in _NUMBERS
    said = [] if is_known else ["output type not supported"]
    for info in call.outputs:
        said += [] if is_known else ["input type not supported"]
        said += [] if info.type == call.input.type else ["input and output types mismatched."]
    types = {info.type for info in call.outputs}
    return {"types": ", ".join(sorted(types)), "said": "\nReference splitter: ".join(said)} if said else None


def _rank_of_mean(call: Query) -> int | None:
    axes = call.values["axes"]
    wanted = max(call.input.rank - len(axes), 1) if axes else 1
    wanted = call.input.rank if call.values["keep_dims"] else wanted
    return None if call.output.rank == wanted else wanted


def _mixed_types(call: Query) -> str | None:
    types = [info.type for info in (*call.inputs, call.output)]
    return ", ".join(types) if len(set(types)) > 1 else None


def _no_broadcast(call: Query) -> list[list[int]] | None:
    """Return the shapes of inputs with a size that is neither 1 nor the size of the output, and the shape of the output."""
    for at in range(call.output.rank):
        size = call.output.size(at)
        for info in call.inputs[:2]:
            offset = call.output.rank - info.rank
            if 0 <= offset <= at and info.size(at - offset) not in (1, size):
                return [list(tensor.known_shape) for tensor in (*call.inputs[:2], call.output)]
    return None


FUNCTIONS = {
    "weights of 8-bit input": lambda call: _has_eight_bits(call) and call.weights.type not in _EIGHT_BITS,
    "weights of other input": lambda call: not _has_eight_bits(call) and call.weights.type not in (*_NUMBERS, PER_CHANNEL),
    "mixed weights": lambda call: not _has_eight_bits(call) and call.weights.type != call.input.type,
    "bias of other weights": _bias_of_other_weights,
    "concatenated types": partial(_joined, "Reference concatenation: "),
    "stacked types": partial(_joined, "Reference stack: "),
    "split types": _split,
    "several scales": lambda call: call.input.is_quantized and call.input.is_per_axis,
    "other rank of mean": _rank_of_mean,
    "mixed types": _mixed_types,
    "no broadcast": _no_broadcast,
}
"""The functions that find problems, by the names in the table."""
CPU_REF = Backend("CpuRef", read_layers("reference.json", FUNCTIONS), reports_all=True)


BACKENDS = {backend.name: backend for backend in (CPU_REF, CPU_ACC)}
"""The simulated backends by name."""


class ArmnnTarget(NamedTuple):
    """The target of the rules: the backends in order of preference, and the release of the runtime."""

    backends: tuple[str, ...]
    release: Release = NEWEST


@dataclass(frozen=True, eq=False, slots=True)
class Layer:
    """A layer that the backends are asked for.

    ``word`` names it in log lines, and ``name`` in the tables of the backends. ``call`` returns the question, or None if the
    node does not need the layer. ``place`` is the upstream line that asks, and ``function`` its function.
    """

    word: str
    name: str
    call: Callable[[NodeView], Query | None]
    place: str
    function: str = "operator()"


RuleStep = LayerDemand | Layer


class VisitOutcome(NamedTuple):
    """The outcome of a visit: what was found, by key of the check; the log lines; the text of an exception."""

    found: Mapping[object, str] = MappingProxyType({})
    lines: tuple[str, ...] = ()
    thrown: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class NodeVisit:
    """The steps in which the delegate visits a node. The key of a check is its step, or the step, the backend and a number."""

    steps: tuple[RuleStep, ...]

    def outcome(self, node: NodeView, target: ArmnnTarget) -> VisitOutcome:
        """Visit a node."""
        if node.kept is None or node.kept[0] != target:
            node.kept = target, self._visit(node, target)
        outcome: VisitOutcome = node.kept[1]
        return outcome

    def find(self, key: object, node: NodeView, target: ArmnnTarget) -> str | None:
        """Return what was found at a check, or None if the visit does not end there."""
        return self.outcome(node, target).found.get(key)

    def calls(self, node: NodeView) -> Iterator[tuple[Layer, Query]]:
        """Yield the layers of an accepted node, with their tensors and values."""
        for step in self.steps:
            if isinstance(step, Layer) and (call := step.call(node)) is not None:
                yield step, call

    def _visit(self, node: NodeView, target: ArmnnTarget) -> VisitOutcome:
        lines: list[str] = []
        for step in self.steps:
            place = ""
            try:
                if isinstance(step, LayerDemand):
                    refusal = step.refusal(node)
                    if refusal is not None:
                        said = [f"ERROR: {refusal.message}"] if refusal.message else []
                        return VisitOutcome({step: refusal.found}, (*lines, *said))
                    continue
                call = step.call(node)
                place = f"\nFailed to check layer support at function {step.function} [delegate/classic/src/{step.place}]"
                refusals = {} if call is None else _ask(step, call, target, lines)
            except Thrown as thrown:
                return VisitOutcome({step: thrown.found}, (*lines,), thrown.text + place)
            if refusals:
                return VisitOutcome(refusals, (*lines, f"ERROR: {step.word}: not supported by any specified backend"))
        return VisitOutcome(lines=(*lines,))


def _ask(layer: Layer, call: Query, target: ArmnnTarget, lines: list[str]) -> Mapping[object, str]:
    """Ask the backends. Return what was found if all of them refuse. Add their lines to ``lines``."""
    values: dict[object, str] = {}
    for name in target.backends:
        refusals = BACKENDS[name].refusals(layer.name, call)
        if not refusals:
            return {}
        values |= {(layer, name, number): refusal.found for number, refusal in refusals.items()}
        lines.append(BACKENDS[name].warning(layer.word, refusals))
    return values


@dataclass(frozen=True, eq=False)
class VisitRule(OpRule[ArmnnTarget]):
    """The rule of an operator, with its visit."""

    visit: NodeVisit = field(default_factory=lambda: NodeVisit(()))


def visited(file: str, function: str, steps: Sequence[RuleStep]) -> VisitRule:
    """Return the rule of an operator, which a function in one of the delegate's files visits in these steps."""
    visit = NodeVisit((*steps,))
    checks = tuple([check for step in steps for check in _checks(step, visit)])
    return VisitRule(checks, source=(Source(ARMNN, f"delegate/classic/src/{file}", function),), visit=visit)


def _checks(step: RuleStep, visit: NodeVisit) -> Iterator[Check[ArmnnTarget]]:
    if isinstance(step, LayerDemand):
        yield Check(step.kind, step.needed, partial(visit.find, step), step.hint)
        return
    hint = "give all tensors of the node a fixed shape with at least one dimension"
    needed = "types, ranks and sizes that Arm NN can describe"
    yield Check(SHAPE, needed, partial(visit.find, step), hint, applies=f"layer {step.word}")
    for name, backend in BACKENDS.items():
        conditions = (Condition(f"with {name}", partial(_names, name)),)
        for number, demand in enumerate(backend.demands(step.name)):
            find = partial(visit.find, (step, name, number))
            applies = f"layer {step.word} on {name}"
            yield Check(demand.kind, demand.needed, find, demand.hint, applies=applies, conditions=conditions)


def _names(backend: str, target: ArmnnTarget) -> bool:
    return backend in target.backends
