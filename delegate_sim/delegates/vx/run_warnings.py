"""Warnings about running the VX delegate.

The warnings are about options without effect, and about failures after the delegate was applied.

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
            yield f"option {name} has no effect, because the delegate never uses it"
    if "device_id" in changed:
        yield "option device_id has no effect, except in builds of the delegate for several devices"
    if "cache_file_path" in changed and "allowed_cache_mode" not in changed:
        yield "option cache_file_path has no effect without allowed_cache_mode"
    if "allowed_cache_mode" in changed and "cache_file_path" not in changed:
        yield "option allowed_cache_mode has no effect without cache_file_path"


def cache_warnings(decision: Decision, options: OptionValues) -> Iterator[str]:
    """Yield a warning if a subgraph has several kernels, because only the first kernel can use the cache file."""
    kernels = len(decision.candidates)
    if decision.nodes and options["allowed_cache_mode"] and options["cache_file_path"] and kernels > 1:
        yield (
            f"subgraph {decision.graph.index}: {kernels} delegate kernels share one cache file, but the file contains only the "
            "network of the first kernel. All other kernels load this network too and give wrong results"
        )


def dynamic_warning(graph: Graph, dynamic: DynamicTensor, delegated: Collection[int | None]) -> str:
    """Return a warning about a dynamic shape. A kernel is built at the first Invoke, and never resizes its results."""
    tensor = graph.tensors[dynamic.tensor]
    where = f"subgraph {graph.index}: the size of tensor {dynamic.tensor} ({tensor.name})"
    if dynamic.node is not None:
        where += f", computed by node {dynamic.node} ({graph.nodes[dynamic.node].op}),"
    if dynamic.node in delegated:
        meaning = (
            f"The kernel with node {dynamic.node} uses the size in the file, so all other sizes give wrong values. If the "
            "tensor is an output of the kernel, no memory is allocated for the tensor, and Invoke may crash"
        )
    else:
        meaning = "Kernels that read this tensor are built for its size at the first Invoke, so all other sizes give wrong values"
    return f"{where} is known only at run time. The delegate still accepts the graph, with the shapes in the file. {meaning}"
