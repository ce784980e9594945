"""Demands of a backend on layers and of the delegate on nodes, the tables of demands on layers, and kinds of problem.

The tables are JSON files beside this module. They list layers with their checks in the upstream order. A row has one of these
keys:

- ``type``, ``ranks``, ``not_half``, ``shape``, ``same_type`` and so on are demands that have a function here.
- ``refuses`` names a problem that the backend's module finds.

``says`` is the upstream message, and ``line`` the line of a function of Compute Library (``in``) with the check. ``found`` and
``says`` are templates: they may name tensors and values of the call, and ``problem``, which is the result of the function that
found the problem.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ...graph.graph import NodeView
from ...refusal import Refusal, Stage
from ...rules.kinds import HYBRID, OPERATOR, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE, Kind, kinds_in
from ...rules.operands import listed
from ...rules.rule import Repository, Source
from .tensors import Info, Query

ARMNN = Repository("ARM-software/armnn", "ef0f3e7ac2d49d5eb36adb45c12b3b64fb8dd46f")
CLASSIC = Source(ARMNN, "delegate/classic/src/armnn_delegate.cpp", "ArmnnSubgraph::VisitNode")
RELEASE = "23.08"
"""The release of Arm NN that is simulated, with Compute Library 24.11 as in Debian 13."""

_RULES, _FAILURES = (kinds_in("delegates/armnn", section) for section in ("rules", "failures"))
READS_COMPUTED = _RULES["reads-computed-value"]
NOT_BUILT = _FAILURES["armnn-network-not-built"]
ASSERTION = _FAILURES["armnn-assertion"]
FALLBACK_DISABLED = _FAILURES["armnn-fallback-disabled"]
KINDS = tuple(_RULES.values())
"""Every kind of problem in the rules, with the delegate's wording."""


@dataclass(frozen=True, slots=True)
class _OperandFacts:
    subject: Any
    problem: object

    def __getitem__(self, name: str) -> Any:
        if name == "problem":
            return self.problem
        if isinstance(self.subject, Query):
            return self.subject.part(name)
        node = self.subject.node
        return f"#{node.builtin_code} node #{node.index}: " if name == "place" else getattr(self.subject, name)


@dataclass(frozen=True, eq=False, slots=True)
class LayerDemand:
    """A demand on a call (of a backend) or on a node (of the delegate itself).

    ``test`` returns a problem, or None or False if the call meets the demand. ``found`` and ``says`` are templates. With
    ``again``, that call is asked too, and its answer counts.
    """

    kind: Kind
    needed: str
    test: Callable[[Any], object]
    found: str = ""
    says: str = ""
    hint: str = ""
    again: Callable[[Query], Query] | None = None

    def refusal(self, subject: Query | NodeView) -> Refusal | None:
        """Return the refusal of a call or node, or None if it meets the demand. Raises Thrown as upstream does.

        The message is the message of upstream, and may be empty.
        """
        problem = self.test(subject)
        if problem is None or problem is False:
            return None
        facts = _OperandFacts(subject, problem)
        values = {"found": self.found.format_map(facts), "needed": self.needed, "said": self.says.format_map(facts)}
        return self.kind.refusal("{said}", hint=self.hint, stage=Stage.ACCEPTING, values=values)


LayerDemands: TypeAlias = tuple[LayerDemand, ...]
"""The demands of a backend on a layer, in the order of its checks."""
NO_LAYER = LayerDemand(
    OPERATOR,
    "a backend with this layer",
    lambda _: True,
    "no such layer",
    hint="add CpuRef to the backends, or replace the operator",
)


@dataclass(frozen=True, eq=False, slots=True)
class Backend:
    """A backend: its demands for each layer. A layer without an entry is refused without a message."""

    name: str
    layers: Mapping[str, LayerDemands]
    reports_all: bool = False
    """Whether the backend goes on after a demand that is not met. Each message then ends in a line feed."""

    def demands(self, layer: str) -> LayerDemands:
        """Return the demands on a layer."""
        return self.layers.get(layer, (NO_LAYER,))

    def refusals(self, layer: str, call: Query) -> Mapping[int, Refusal]:
        """Return the refusals by the position of the demand. Raises Thrown as the backend does."""
        refusals = {}
        for position, demand in enumerate(self.demands(layer)):
            refusal = demand.refusal(call)
            if refusal is not None:
                if demand.again and not self.refusals(layer, demand.again(call)):
                    return {}
                refusals[position] = refusal
                if not self.reports_all:
                    break
        return refusals

    def warning(self, word: str, refusals: Mapping[int, Refusal]) -> str:
        """Return the delegate's line about a layer that the backend refuses. ``word`` is the delegate's name of the layer."""
        end = "\n" if self.reports_all else ""
        reason = "".join([refusal.message + end for refusal in refusals.values() if refusal.message])
        return f"WARNING: {word}: not supported by armnn" + (f": {reason}" if reason else "")


_NAMES = {"input": "input 0", "second": "input 1", "tensors": "a tensor"}
"""The names of tensors in messages, where they differ from the names in tables."""
_KINDS = {kind.name: kind for kind in KINDS}
_SAME: Mapping[str, tuple[Kind, str, str, Callable[[Info, Info], bool]]] = {
    "same_type": (HYBRID, "type", "{.type}", lambda one, two: one.type == two.type),
    "same_rank": (RANK, "rank", "{.rank}", lambda one, two: one.rank == two.rank),
    "same_size": (SHAPE, "number of elements", "{.element_count}", lambda one, two: one.element_count == two.element_count),
    "same_space": (
        QUANTIZATION,
        "scale and zero point",
        "{.scale:g} and {.zero_point}",
        lambda one, two: not one.is_quantized or (one.space, one.scales) == (two.space, two.scales),
    ),
}
"""The demands on two tensors: the kind, the words for the property, its template, and the comparison."""


def refusal(row: Mapping[str, Any], functions: Mapping[str, Any]) -> LayerDemand:
    """Return the demand of a row that names a problem."""
    texts = [row.get(name, "") for name in ("found", "says", "hint")]
    return LayerDemand(_KINDS[row["kind"]], row["needed"], functions[row["refuses"]], *texts)


def _typed(part: str, types: list[str]) -> LayerDemand:
    name = _NAMES.get(part, part)

    def test(call: Query) -> Info | None:
        infos = call.part(part) or ()
        return next((info for info in ((infos,) if isinstance(infos, Info) else infos) if info.type not in types), None)

    return LayerDemand(TENSOR_TYPE, f"{name} of type {listed(types)}", test, f"{name} is {{problem.type}}")


def _ranked(part: str, least: int, most: int) -> LayerDemand:
    name, words = _NAMES.get(part, part), f"{least} to {most}" if least else f"at most {most}"
    words = f"{most}" if least == most else words

    def test(call: Query) -> object:
        info = call.part(part)
        return info is not None and not least <= info.rank <= most and info

    return LayerDemand(RANK, f"{name} of rank {words}", test, f"{name} of rank {{problem.rank}}")


def _alike(key: str, first: str, second: str) -> LayerDemand:
    kind, words, template, holds = _SAME[key]
    names = [_NAMES.get(part, part) for part in (first, second)]

    def test(call: Query) -> object:
        infos = call.part(first), call.part(second)
        return None not in infos and not holds(*infos) and infos

    descriptions = [f"{name} of {words} {template.replace('{', f'{{problem[{at}]')}" for at, name in enumerate(names)]
    return LayerDemand(kind, f"the same {words} in {names[0]} and {names[1]}", test, " and ".join(descriptions))


def _not_half(part: str) -> LayerDemand:
    """Demand that a tensor is not FLOAT16 (``ARM_COMPUTE_RETURN_ERROR_ON_CPU_F16_UNSUPPORTED``).

    The simulated processor has no half-precision arithmetic, as a Cortex-A72. A layer is accepted if the backend supports it with
    FLOAT32 tensors (``NeonLayerSupport::IsLayerSupported``).
    """
    name = _NAMES.get(part, part)
    return LayerDemand(
        TENSOR_TYPE,
        f"{name} of another type than FLOAT16",
        lambda call: call.part(part).type == "FLOAT16",
        f"{name} is FLOAT16",
        again=_as_float,
    )


def _as_float(call: Query) -> Query:
    def cast(infos: tuple[Info | None, ...]) -> tuple[Any, ...]:
        return tuple([info and info._replace(type="FLOAT32") for info in infos])

    weights, bias = cast((call.weights, call.bias))
    return call._replace(inputs=cast(call.inputs), outputs=cast(call.outputs), weights=weights, bias=bias)


def _shaped(infer: Callable[[Query], Sequence[int]]) -> LayerDemand:
    """Demand that the output has a computed shape. The library does not see sizes of 1 at the front."""

    def test(call: Query) -> object:
        wanted, given = [*infer(call)], [*call.output.known_shape]
        rank = max(len(wanted), len(given))
        padded = [[1] * (rank - len(shape)) + shape for shape in (wanted, given)]
        return padded[0] != padded[1] and wanted

    template = "output of shape {output.sizes}, where {problem} is computed"
    return LayerDemand(SHAPE, "an output of the computed shape", test, template)


def unknown_sizes(call: Query) -> None:
    """Read all sizes (``BuildArmComputeTensorInfo``). Raises Thrown if one is not known."""
    for info in (*call.inputs, call.weights, call.bias, *call.outputs):
        _ = info and info.sizes


KNOWN_SIZES = LayerDemand(SHAPE, "known sizes of all dimensions", unknown_sizes, "", hint="fix the shapes before converting")
"""The demand on tensors that Arm NN first describes to Compute Library."""
_MAKERS: Mapping[str, Callable[..., LayerDemand]] = {
    "type": lambda row, _: _typed(row.get("of", "input"), row["type"]),
    "ranks": lambda row, _: _ranked(row.get("of", "input"), *row["ranks"]),
    "not_half": lambda row, _: _not_half(row["not_half"]),
    "shape": lambda row, functions: _shaped(functions[row["shape"]]),
    "refuses": refusal,
    **{key: lambda row, _, key=key: _alike(key, *row[key]) for key in _SAME},
}
"""The function that makes the demand of a row, by the key of the row."""


def _rows(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows that a row stands for. ``unary`` is about the types of input and output, ``each`` about several tensors."""
    if "unary" in row:
        yield {"type": row["unary"], "says": row["says"][0]}
        yield {"type": row.get("results", row["unary"]), "of": "output", "says": row["says"][1]}
        yield from [{"same_type": ["input", "output"], "says": says} for says in row["says"][2:]]
    elif "each" in row:
        text = json.dumps({key: value for key, value in row.items() if key != "each"})
        yield from [json.loads(text.replace("*", name)) for name in row["each"]]
    else:
        yield row


def read_layers(file: str, functions: Mapping[str, Any]) -> Mapping[str, LayerDemands]:
    """Read the demands on each layer from a table beside this module. ``functions`` finds problems and infers shapes, by name."""
    return layers_of(json.loads(pkgutil.get_data(__package__, file) or b""), functions)


def layers_of(table: Mapping[str, Any], functions: Mapping[str, Any]) -> Mapping[str, LayerDemands]:
    """Return the demands of a table on each layer. Raises KeyError for a name that the table or ``functions`` lacks."""

    def types(names: list[str]) -> list[str]:
        return [kind for name in names for kind in (types(table["sets"][name]) if name in table["sets"] else [name])]

    def demand_of(row: Mapping[str, Any], entry: Mapping[str, Any], start: str) -> LayerDemand:
        key = next(key for key in _MAKERS if key in row)
        row = {**table.get("defaults", {}).get(key, {}), **row, **({"type": types(row["type"])} if "type" in row else {})}
        if "line" in row:
            path, function = (row.get("in") or entry["in"]).split(":")
            start = f"in {function} src/{path}:{row['line']}: "
        says, demand = row.get("says", ""), _MAKERS[key](row, functions)
        needed = row.get("needed", demand.needed)
        return replace(demand, needed=needed, says=start + says if says else "", hint=row.get("hint", ""))

    layers: dict[str, LayerDemands] = {}
    for entry in table["layers"]:
        for name in entry["layers"]:
            start = entry["layers"][name] if isinstance(entry["layers"], dict) else entry.get("start", "")
            rows = [part for row in entry["checks"] for part in _rows(row)]
            known = (KNOWN_SIZES,) if entry.get("reads_sizes", "in" in entry) else ()
            layers[name] = (*layers.get(name, ()), *known, *[demand_of(row, entry, start) for row in rows])
    return layers
