"""Warnings about running the VX delegate: options without effect, and failures after the delegate was applied.

Source: ``Delegate::Create``, ``Delegate::Init`` and ``Delegate::Invoke`` (``delegate_main.cc`` of
VeriSilicon/tflite-vx-delegate), and ``CreateVxDelegateFromOptions`` (``vx_delegate_adaptor.cc``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ...graph.graph import DynamicTensor, Graph
from ..decision import Decision
from ..options import Option, OptionValues

NEVER_USED = ("allowed_builtin_code", "error_during_init", "error_during_prepare", "error_during_invoke")
"""Options that the delegate parses but never uses."""


def option_warnings(declared: Iterable[Option], options: OptionValues) -> Iterator[str]:
    """Yield warnings about changed options that have no effect."""
    changed = {option.name for option in declared if options[option.name] != option.default}
    for name in NEVER_USED:
        if name in changed:
            yield f"option {name} has no effect: the delegate parses it, but never uses it"
    if "device_id" in changed:
        yield "option device_id has no effect except in builds of the delegate for several devices"
    if "cache_file_path" in changed and "allowed_cache_mode" not in changed:
        yield "option cache_file_path has no effect without allowed_cache_mode"
    if "allowed_cache_mode" in changed and "cache_file_path" not in changed:
        yield "option allowed_cache_mode has no effect without cache_file_path"


def cache_warnings(decision: Decision, options: OptionValues) -> Iterator[str]:
    """Yield a warning if a subgraph has several kernels, because only the first kernel can use the cache file."""
    kernels = len(decision.candidates)
    if decision.nodes and options["allowed_cache_mode"] and options["cache_file_path"] and kernels > 1:
        yield (
            f"subgraph {decision.graph.index}: its {kernels} delegate kernels share one cache file, which holds only one "
            "network: it fits the first kernel, but the other kernels load it too and so run the wrong network"
        )


def dynamic_warning(graph: Graph, dynamic: DynamicTensor, delegated: Collection[int | None]) -> str:
    """Return a warning about dynamic shapes: a kernel is built when first invoked, and never resizes its results."""
    tensor = graph.tensors[dynamic.tensor]
    where = f"subgraph {graph.index}: the size of tensor {dynamic.tensor} ({tensor.name})"
    if dynamic.node is not None:
        where += f", computed by node {dynamic.node} ({graph.nodes[dynamic.node].op}),"
    if dynamic.node in delegated:
        meaning = (
            f"the kernel with node {dynamic.node} computes this tensor with the size in the file, so every other size gives "
            "wrong values. If the tensor is an output of the kernel, no memory is allocated for it, and Invoke may crash"
        )
    else:
        meaning = (
            "kernels that depend on this tensor are built for its size at the first Invoke, so every later size gives wrong "
            "values"
        )
    return (
        f"{where} is known only at run time. The delegate nevertheless accepts the graph, with the shapes in the file: {meaning}"
    )
