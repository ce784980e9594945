"""Demands of a backend on layers, and of the delegate itself on nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from ...graph.graph import NodeView
from ...rules.kinds import OPERATOR, Kind
from .tensors import Info


class Query(NamedTuple):
    """A question to a backend: whether it supports a layer with these tensors and values."""

    inputs: tuple[Info, ...]
    outputs: tuple[Info, ...]
    weights: Info | None = None
    bias: Info | None = None
    values: Mapping[str, Any] = MappingProxyType({})

    @property
    def input(self) -> Info:
        """The first operand."""
        return next(iter(self.inputs))

    @property
    def second(self) -> Info:
        """The second operand."""
        _, second, *_ = self.inputs
        return second

    @property
    def output(self) -> Info:
        """The first result."""
        return next(iter(self.outputs))

    @property
    def tensors(self) -> tuple[Info, ...]:
        """The operands and the first result."""
        return (*self.inputs, *self.outputs[:1])

    def part(self, name: str) -> Any:
        """Return a tensor or a value by name, or None if the call lacks it."""
        return self.values[name] if name in self.values else getattr(self, name, None)


@dataclass(frozen=True, slots=True)
class _OperandFacts:
    """The values that a template may name."""

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

    def problem(self, subject: Query | NodeView) -> DemandProblem | None:
        """Return the problem of a call or node, or None if it meets the demand. Raises Thrown as upstream does."""
        problem = self.test(subject)
        if problem is None or problem is False:
            return None
        return DemandProblem(
            self, *[template.format_map(_OperandFacts(subject, problem)) for template in (self.found, self.says)]
        )


class DemandProblem(NamedTuple):
    """A demand that a call does not meet, with a description of the actual value, and the backend's message."""

    demand: LayerDemand
    found: str
    said: str


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

    def problems(self, layer: str, call: Query) -> Mapping[int, DemandProblem]:
        """Return the problems by the position of the demand. Raises Thrown as the backend does."""
        problems = {}
        for position, demand in enumerate(self.demands(layer)):
            problem = demand.problem(call)
            if problem is not None:
                if demand.again and not self.problems(layer, demand.again(call)):
                    return {}
                problems[position] = problem
                if not self.reports_all:
                    break
        return problems

    def warning(self, word: str, problems: Mapping[int, DemandProblem]) -> str:
        """Return the delegate's line about a layer that the backend refuses. ``word`` is the delegate's name of the layer."""
        end = "\n" if self.reports_all else ""
        reason = "".join([problem.said + end for problem in problems.values() if problem.said])
        return f"WARNING: {word}: not supported by armnn" + (f": {reason}" if reason else "")
