"""The compiled models of a bundle. Each has XNNPACK or ML Drift applied to every subgraph.

The interpreter replaces composites of a subgraph by their bodies before the first run of the subgraph.

Source: ``LiteRtCompiledModelT::Create`` (``litert/runtime/compiled_model.cc``), ``Subgraph::InlineCompositeNodes``
(``tflite/core/subgraph.cc``), and the compilation options in google-ai-edge/LiteRT-LM,
``runtime/executor/llm_executor_settings_utils.cc`` and ``vision_litert_compiled_model_executor.cc``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..delegates.mldrift.target import KINDS as MLDRIFT_FAILURES
from ..delegates.options import parse_options
from ..delegates.registry import find_delegate
from ..delegates.xnnpack.target import FAILURES as XNNPACK_FAILURES
from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..graph.effort import size_of_body
from ..graph.reachability import subgraphs_from
from ..model.model import Model, Node
from ..model.precompiled import FlexbufferMap
from ..prepare.preparation import prepare_around
from ..refusal import Refusal
from ..releases.catalogue import NEWEST, Release, parse_release
from ..rules.kinds import OPERATOR_NOT_REGISTERED
from ..runtime.interpreter import simulate
from ..runtime.model_loading import custom_operators
from ..runtime.run import REFUSED, Run
from ..runtime.target import Target
from .report import BundleReplacement, Stop, Stopped

COMPOSITE = "STABLEHLO_COMPOSITE"
_MOST_NODES = 200_000
_WEIGHT_OF_A_SUBGRAPH = 16
"""The size that a subgraph has in addition to its nodes, counted in nodes. Delegates are applied to each subgraph."""


class InliningBudget:
    """The limit on the total size of the models that are made while composites are inlined.

    Each round inlines the composites that the delegate did not take in the previous round. If each body calls another body twice,
    the number of nodes doubles in each round. If a body calls itself, the rounds have no end.
    """

    def __init__(self) -> None:
        self._nodes = 0

    def spend(self, model: Model, subgraph: int, composites: Iterable[int]) -> None:
        """Add the size of a model and of the bodies that will replace composites.

        Raises LimitError if all models together are too large.
        """
        nodes = [model.subgraphs[subgraph].nodes[index] for index in composites]
        bodies = [model.subgraphs[body] for node in nodes if (body := _body(model, node)) is not None]
        self._nodes += sum(map(size_of_body, bodies))
        self._nodes += sum([size_of_body(one) + _WEIGHT_OF_A_SUBGRAPH for one in model.subgraphs if one.nodes])
        if self._nodes > raised(_MOST_NODES):
            raise LimitError(
                f"inlining the composites of subgraph {subgraph}, and the composites in their bodies, needs models of more than "
                f"{raised(_MOST_NODES):,} nodes in total{how_to_raise()}"
            )


def composites_left(model: Model, subgraph: int, delegated: Container[int]) -> frozenset[int]:
    """Return the composites of a subgraph that no delegate takes and that can be inlined."""
    return frozenset(
        [node.index for node in model.subgraphs[subgraph].nodes if node.index not in delegated and _body(model, node) is not None]
    )


def with_inlined_composites(model: Model, index: int, composites: Container[int]) -> Model:
    """Return the model with some composites of a subgraph replaced by their bodies. Composites in the bodies are kept."""
    subgraph = model.subgraphs[index]
    tensors, nodes = list(subgraph.tensors), list[Node]()
    for node in subgraph.nodes:
        body_index = _body(model, node) if node.index in composites else None
        if body_index is None:
            nodes.append(node)
            continue
        body = model.subgraphs[body_index]
        places = {tensor: len(tensors) + tensor for tensor in range(len(body.tensors))}
        tensors += [tensor._replace(index=places[tensor.index]) for tensor in body.tensors]
        places.update(zip(body.inputs, node.inputs, strict=True))
        places.update(zip(body.outputs, node.outputs, strict=True))
        nodes += [
            inner._replace(
                inputs=tuple([places.get(tensor, tensor) for tensor in inner.inputs]),
                outputs=tuple([places.get(tensor, tensor) for tensor in inner.outputs]),
                intermediates=tuple([places.get(tensor, tensor) for tensor in inner.intermediates]),
            )
            for inner in body.nodes
        ]
    inlined = replace(
        subgraph, tensors=tuple(tensors), nodes=tuple([node._replace(index=number) for number, node in enumerate(nodes)])
    )
    return model.with_same_bytes(subgraphs=tuple([inlined if one.index == index else one for one in model.subgraphs]))


def only_called(model: Model, index: int) -> Model:
    """Return a model that is faster to simulate: subgraphs that subgraph ``index`` does not call have no nodes."""
    called = subgraphs_from(model, [index])
    kept = [one if one.index in called else replace(one, nodes=()) for one in model.subgraphs]
    return model.with_same_bytes(subgraphs=tuple(kept))


def _body(model: Model, node: Node) -> int | None:
    if node.op != COMPOSITE or node.is_custom:
        return None
    index = int(model.options(node).decomposition_subgraph_index)
    if not 0 <= index < len(model.subgraphs):
        return None
    body = model.subgraphs[index]
    fits = len(body.inputs) == len(node.inputs) and len(body.outputs) == len(node.outputs)
    return index if fits else None


NOT_BUILT = "Failed to build TFL interpreter"
NOT_MODIFIED = "Failed to modify graph with delegate"
NOT_ALLOCATED = "Failed to allocate tensors"
NOT_INVOKED = f"Failed to invoke the compiled model\n└ {NOT_ALLOCATED}"
_NOT_ACCELERATED = (
    "Some ops are not accelerated. Add kLiteRtHwAcceleratorCpu to the compilation accelerator set to allow using the CPU to run "
    "those."
)
_REPLACING = re.compile(
    r"Replacing (\d{1,9}) out of (\d{1,9}) node\(s\) with delegate \(([^()]+)\) node, "
    r"yielding (\d{1,9}) partitions for subgraph (\d{1,9})(?: \((.*)\))?\."
)
_NOT_SUPPORTED = "Following operations are not supported by GPU delegate:"
_COUNTS = re.compile(r"\d+ operations? will run on the GPU|Replacing |No operations will run|Hint ")
_NORMALIZATION, _NORMALIZATION_OPERANDS = "odml.rms_norm", 2
_FLOATS = frozenset({"FLOAT32", "FLOAT16"})
_LOOKUP = "EMBEDDING_LOOKUP"
_KERNEL_HINT = "change the operator in the export: the engine crashes when it builds the kernel of this node"
_LOOKUP_HINT = (
    "the engine crashes when it builds the kernel for a float table: quantize the table to INT8 or INT4, or export the embedder "
    "as a separate section (the engine runs it on the CPU)"
)
_TESTED_ELSEWHERE = "mldrift-build-composite"
"""The code of a crash that occurs in LiteRT's binaries, but not in LiteRT-LM's binaries."""
_HINT = (
    "change this operator in the export, or try delegate-sim fix BUNDLE --delegate mldrift -o FILE: the engine accepts the "
    "bundle only if the GPU takes every node of every subgraph"
)

_CRASHES = frozenset(
    {code for kinds in (MLDRIFT_FAILURES, XNNPACK_FAILURES) for code, kind in kinds.items() if kind.effect.is_crash}
)
"""The codes of failures that end the process while a delegate makes its kernels."""
_NO_KERNEL = "change the operator in the export, because the engine has no CPU kernel for this node"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A model with an applied delegate, and the log lines about applying this delegate. ``section`` is the model's section."""

    section: str
    model: Model
    run: Run
    replacements: tuple[BundleReplacement, ...]


def compile_for_cpu(section: str, model: Model, stage: str, *, is_clustered: bool = True, release: Release = NEWEST) -> Compiled:
    """Apply XNNPACK to every subgraph. Raises Stopped if the interpreter cannot be built."""
    run = _run(model, "xnnpack", {}, release)
    if not run.is_loaded and run.refusal is not None:
        raise Stopped(_not_built(section, model, run, stage))
    if run.refusal is not None and run.refusal.code in _CRASHES:
        raise Stopped(_crashing_build(section, model, run.refusal, stage))
    return Compiled(section, model, run, _replacements(section, run, is_clustered))


def compile_for_gpu(section: str, model: Model, stage: str, *, is_whole: bool, release: Release = NEWEST) -> Compiled:
    """Apply ML Drift over WebGPU, without the CPU. Raises StoppedWhileCompiling.

    With ``is_whole``, the engine passes the hint that the GPU takes the whole model. Without this hint, the GPU may leave nodes
    to the CPU, and the engine then refuses the model.
    """
    options = {
        "backend": "webgpu",
        "hint_fully_delegated": is_whole,
        "skip_decompositions": True,
        "constant_tensor_sharing": is_whole,
    }
    run = _run(model, "mldrift", {**options, "build_kernels": True}, release)
    if run.refusal is not None and run.refusal.code == _TESTED_ELSEWHERE:
        run = _run(model, "mldrift", options, release)
    compiled = Compiled(section, model, run, _replacements(section, run))
    crash = next(_crashes(compiled, stage), None)
    if crash is not None:
        raise StoppedWhileCompiling(crash, compiled)
    if run.outcome == REFUSED and run.refusal is not None:
        if not run.is_loaded:
            raise Stopped(_not_built(section, model, run, stage))
        if run.refusal.code in _CRASHES:
            raise StoppedWhileCompiling(_crashing_build(section, model, run.refusal, stage), compiled)
        raise StoppedWhileCompiling(_not_taken(compiled, run.refusal.subgraph, run.refusal.node, NOT_MODIFIED, stage), compiled)
    left = None if is_whole else _left_over(run)
    if left is not None:
        raise StoppedWhileCompiling(_not_taken(compiled, *left, _NOT_ACCELERATED, stage), compiled)
    return compiled


class StoppedWhileCompiling(Stopped):
    """Raised if a model cannot be compiled, although a delegate was applied. ``compiled`` has the results of this delegate."""

    def __init__(self, stop: Stop, compiled: Compiled) -> None:
        super().__init__(stop)
        self.compiled = compiled


def first_run(compiled: Compiled, subgraph: int, *, is_clustered: bool = True) -> tuple[Compiled, Refusal | None]:
    """Simulate the first run of a subgraph on the CPU: inline composites, and allocate tensors.

    Each round inlines the composites that XNNPACK did not take in the previous round, and applies XNNPACK again. Return the model
    with inlined composites and the log lines of this subgraph, and the failure to allocate, or None. Raises LimitError if the
    composites are nested too deeply.
    """
    model, run, lines, budget = compiled.model, compiled.run, list[BundleReplacement](), InliningBudget()
    while composites := composites_left(model, subgraph, run.subgraphs[subgraph].delegated):
        model = only_called(model, subgraph)
        budget.spend(model, subgraph, composites)
        model = only_called(with_inlined_composites(model, subgraph, composites), subgraph)
        run = _run(model, "xnnpack", {}, compiled.run.release)
        lines += [line for line in _replacements(compiled.section, run, is_clustered) if line.subgraph == subgraph]
    if run.refusal is not None and model is compiled.model:
        # A run tells only the first failure, which may be in a subgraph that is not called.
        model = only_called(model, subgraph)
        run = _run(model, "xnnpack", {}, compiled.run.release)
    inlined = Compiled(compiled.section, model, run, tuple(lines))
    return inlined, _allocation_failure(inlined, subgraph)


def _allocation_failure(compiled: Compiled, subgraph: int) -> Refusal | None:
    run = compiled.run
    if run.refusal is not None and not run.refusal.is_at_invoke:
        return run.refusal if run.refusal.subgraph == subgraph else replace(run.refusal, node=None)
    delegated = {one.graph.index: one.delegated for one in run.subgraphs}
    unregistered = custom_operators(compiled.model, run.target).unregistered
    failure = prepare_around(compiled.model, delegated, release=run.release, unregistered=unregistered)[subgraph].failure
    return None if failure is None else replace(failure, hint=_NO_KERNEL)


def not_allocated(
    compiled: Compiled, subgraph: int, failure: Refusal, stage: str, signature: str | None, *, error: str = NOT_INVOKED
) -> Stop:
    """Return the stop for tensors that cannot be allocated. If a tensor causes the failure, it has no node."""
    return Stop(
        "allocation",
        error,
        stage,
        compiled.section,
        signature,
        subgraph,
        failure.node,
        _operator(compiled.model, subgraph, failure.node),
        (failure.message,),
        _NO_KERNEL if failure.code == OPERATOR_NOT_REGISTERED.name else failure.hint,
    )


def signature_of(model: Model, subgraph: int | None) -> str | None:
    """Return the key of the signature that runs a subgraph, or None if there is none."""
    return next((signature.key for signature in model.signatures if signature.subgraph == subgraph), None)


def _run(model: Model, delegate_name: str, options: Mapping[str, Any], release: Release) -> Run:
    delegate = find_delegate(delegate_name)
    return simulate(model, Target(delegate, parse_options(delegate_name, delegate.options, options), release))


def _replacements(section: str, run: Run, is_clustered: bool = True) -> tuple[BundleReplacement, ...]:
    replacements = [line for text in run.log_lines if (line := replacement_in(text, section)) is not None]
    if not is_clustered:
        replacements = [replace(line, partitions=_runs_in_order(run, line.subgraph)) for line in replacements]
    return tuple(replacements)


def replacement_in(text: str, section: str) -> BundleReplacement | None:
    """Parse a log line of the runtime that reports replaced nodes. Return None for every other line."""
    match = _REPLACING.fullmatch(text)
    if match is None:
        return None
    replaced, nodes, partitions, subgraph = (int(match[number]) for number in (1, 2, 4, 5))
    return BundleReplacement(section, match[3], replaced, nodes, partitions, subgraph, match[6] or "")


def _runs_in_order(run: Run, subgraph: int) -> int:
    """Return the number of partitions if the runtime must keep the order of the nodes (``greedily`` in ``graph_info.cc``)."""
    decision = run.subgraphs[subgraph].decision
    if decision is None:
        return 0
    delegated = set(decision.nodes)
    kinds = [index in delegated for index in decision.graph.execution_plan]
    return sum(number == 0 or kind != kinds[number - 1] for number, kind in enumerate(kinds))


def _not_built(section: str, model: Model, run: Run, stage: str) -> Stop:
    refusal = run.refusal
    assert refusal is not None
    place = section, model, refusal.subgraph, refusal.node
    return _stop_at(*place, "interpreter", NOT_BUILT, stage, refusal.hint, reasons=run.log_lines[:1])


def _left_over(run: Run) -> tuple[int, int] | None:
    for subgraph in run.subgraphs:
        for index in subgraph.graph.execution_plan if subgraph.decision is not None else ():
            if index not in subgraph.delegated:
                return subgraph.graph.index, index
    return None


def _not_taken(compiled: Compiled, subgraph: int, node: int | None, error: str, stage: str) -> Stop:
    reasons = _reasons(compiled.run)
    return _stop_at(compiled.section, compiled.model, subgraph, node, "gpu-takes-all", error, stage, _HINT, reasons=reasons)


def _reasons(run: Run) -> tuple[str, ...]:
    reasons, is_reason = list[str](), False
    for line in run.log_lines:
        is_reason = line == _NOT_SUPPORTED or (is_reason and not _COUNTS.match(line))
        if is_reason and line != _NOT_SUPPORTED:
            reasons.append(line)
    return tuple(reasons or ([] if run.refusal is None else [run.refusal.message]))


def _crashes(compiled: Compiled, stage: str) -> Iterator[Stop]:
    for run in compiled.run.subgraphs:
        if len(run.delegated) < len(run.graph.execution_plan):
            continue
        for index in sorted(run.delegated):
            text = _crash(compiled.model, run.graph.index, index, compiled.run.release)
            if text:
                node = compiled.model.subgraphs[run.graph.index].nodes[index]
                hint = _LOOKUP_HINT if node.op == _LOOKUP else _KERNEL_HINT
                place = compiled.section, compiled.model, run.graph.index, index
                yield _stop_at(*place, "delegate-kernel", text, stage, hint, is_crash=True)


def _crashing_build(section: str, model: Model, refusal: Refusal, stage: str) -> Stop:
    place = section, model, refusal.subgraph, refusal.node
    return _stop_at(*place, "delegate-kernel", refusal.message, stage, refusal.hint, is_crash=True)


def _stop_at(
    section: str,
    model: Model,
    subgraph: int,
    node: int | None,
    check: str,
    error: str,
    stage: str,
    hint: str,
    *,
    reasons: tuple[str, ...] = (),
    is_crash: bool = False,
) -> Stop:
    signature, operator = signature_of(model, subgraph), _operator(model, subgraph, node)
    return Stop(check, error, stage, section, signature, subgraph, node, operator, reasons, hint, is_crash)


_LOOKS_UP_FLOATS = parse_release("litert-2.4")
"""The first release with an engine that looks up constant float embeddings on the GPU."""


def _crash(model: Model, subgraph: int, index: int, release: Release) -> str:
    node, tensors = model.subgraphs[subgraph].nodes[index], model.subgraphs[subgraph].tensors
    if node.op == _LOOKUP and not node.is_custom and not release.is_at_least(_LOOKS_UP_FLOATS):
        table = node.input(1)
        if table >= 0 and tensors[table].type in _FLOATS and tensors[table].is_constant:
            return "Unsupported external weights type: 1"
    if node.op == COMPOSITE and not node.is_custom and model.options(node).name == _NORMALIZATION:
        attributes = FlexbufferMap(bytes(model.options(node).composite_attributes or ()))
        if len(node.inputs) < _NORMALIZATION_OPERANDS or not attributes.has("epsilon"):
            return f"{_NORMALIZATION} needs the operand scale and the attribute epsilon"
    return ""


def _operator(model: Model, subgraph: int, node: int | None) -> str | None:
    nodes = model.subgraphs[subgraph].nodes if 0 <= subgraph < len(model.subgraphs) else ()
    return nodes[node].op if node is not None and 0 <= node < len(nodes) else None
