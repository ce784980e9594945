"""The log lines of the runtime and of benchmark_model about the application of a delegate."""

from __future__ import annotations

from collections.abc import Iterator

from .catalogue import Release, ReleaseNote, parse_release, release_note

_WITHOUT_TOTAL = "Replacing {replaced} node(s) with delegate ({kernel}) node, yielding {partitions} partitions"
_WITH_TOTAL = "Replacing {replaced} out of {total} node(s) with delegate ({kernel}) node, yielding {partitions} partitions"
_REPLACING = {
    "plain": f"{_WITHOUT_TOTAL}.",
    "whole graph": f"{_WITHOUT_TOTAL} for the whole graph.",
    "out of, whole graph": f"{_WITH_TOTAL} for the whole graph.",
    "subgraph": f"{_WITH_TOTAL} for subgraph {{subgraph}}.",
    "named subgraph": f"{_WITH_TOTAL} for subgraph {{subgraph}} ({{name}}).",
}
_WORDINGS = {
    ("tf", (2, 10)): "plain",
    ("tf", (2, 12)): "whole graph",
    ("tf", (2, 13)): "out of, whole graph",
    ("tf", (2, 19)): "subgraph",
    ("tf", (2, 22)): "named subgraph",
    ("litert", (1, 0)): "out of, whole graph",
    ("litert", (1, 1)): "subgraph",
    ("litert", (2, 2)): "named subgraph",
}
"""The first release of each family with each wording."""
DYNAMIC_TENSOR_LINE = (
    "Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors "
    "(tensor#{tensor} is a dynamic-sized tensor)."
)
NOT_INITIALIZED_LINE = "Failed to initialize the interpreter"
"""The line that benchmark_model prints if the runtime does not load the model."""
INCONSISTENT_LINE = "AllocateTensors() called on inconsistent model."
NOT_ALLOCATED_LINE = "Failed to allocate tensors!"
"""The line that benchmark_model prints if the runtime cannot prepare the graph."""
FLEX = "Flex"
"""The prefix of the names of TensorFlow operators that the Flex delegate runs (``IsFlexOp``, ``util.cc``)."""
LISTS = (f"{FLEX}TensorList", "TensorList")
"""Name prefixes of operators that collect a loop's results in a list. One prefix is TensorFlow's, and one is the runtime's."""

_NO_FLEX_LINE = (
    "Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter. Make sure you apply/link "
    "the Flex delegate before inference. For the Android, it can be resolved by adding "
    '"org.tensorflow:tensorflow-lite-select-tf-ops" dependency. See instructions: '
    "https://www.tensorflow.org/lite/guide/ops_select"
)

RESTORED_LINE = "Restored original execution plan after delegate application failure."


def _wording(release: Release) -> str:
    minor = max(version for family, version in _WORDINGS if family == release.family and version <= release.version[:2])
    return _REPLACING[_WORDINGS[release.family, minor]]


def replacing_line(release: Release, *, replaced: int, total: int, kernel: str, partitions: int, subgraph: int, name: str) -> str:
    """Return the line about replaced nodes (``ReplaceNodeSubsetsWithDelegateKernels``, ``core/subgraph.cc``)."""
    return _wording(release).format(
        replaced=replaced, total=total, kernel=kernel, partitions=partitions, subgraph=subgraph, name=name
    )


def redoing_line(delegates: int) -> str:
    """Return the line about delegates that are applied again (``RedoAllDelegates``, ``core/subgraph.cc``)."""
    return f"Redoing {delegates} delegates."


def prepare_failure_line(node: int, op: str) -> str:
    """Return the line about a node that cannot be prepared (``ReportOpError``, ``core/subgraph.cc``)."""
    return f"Node number {node} ({op}) failed to prepare."


def unregistered_line(op: str) -> str:
    """Return the message about a custom operator or a TensorFlow operator (Flex) that is not registered."""
    if op.startswith(FLEX):
        return _NO_FLEX_LINE
    return f"Encountered unresolved custom op: {op}.\nSee instructions: https://www.tensorflow.org/lite/guide/ops_custom "


def benchmark_line(provider: str, *, kernels: int, plan_size: int) -> str:
    """Return benchmark_model's line about one delegate in the first subgraph (``benchmark_tflite_model.cc``)."""
    if kernels == 1 and plan_size == 1:
        return f"Explicitly applied {provider} delegate, and the model graph will be completely executed by the delegate."
    if kernels:
        return (
            f"Explicitly applied {provider} delegate, and the model graph will be partially executed by the delegate "
            f"w/ {kernels} delegate kernels."
        )
    return f"Though {provider} delegate is explicitly applied, the model graph will not be executed by the delegate."


def benchmark_failure_line(provider: str) -> str:
    """Return the line that benchmark_model prints if a delegate cannot be applied."""
    return f"Failed to apply {provider} delegate."


_CPU_KERNELS_SINCE = parse_release("litert-1.1.0")
"""The oldest release whose CPU kernels are simulated."""


def unchecked_parts(release: Release, delegate: str, known_since: str) -> Iterator[str]:
    """Yield the parts of a release that were not checked: the delegate's rules, and the CPU kernels."""
    if known_since and not release.is_at_least(parse_release(known_since)):
        yield f"the rules of {delegate}"
    if not release.is_at_least(_CPU_KERNELS_SINCE):
        yield "the CPU kernels"


def release_notes(delegate: str, release: Release, known_since: str, *, is_unchanged: bool) -> Iterator[ReleaseNote]:
    """Yield notes about a release if the delegate's rules in this release are not known.

    The notes name the release whose rules are used instead. ``known_since`` is the oldest release with known rules, or "" if
    the delegate is not part of the runtime. ``is_unchanged`` means that the delegate's rules are the same in all releases
    since ``known_since``.
    """
    for note in (release_note(release), cpu_kernels_note(release)):
        if note is not None:
            yield note
    if not known_since:
        return
    since = parse_release(known_since)
    if not release.is_at_least(since):
        instead = f"the rules of {since}, the oldest known release, are used instead"
        yield ReleaseNote(f"the rules of {delegate} in {{release}} are not well known; {instead}", release)
    elif release.family == "tf" and release.order[0] and not is_unchanged:
        counterpart = Release("litert", release.order[:3])
        instead = f"the rules of {counterpart}, a release from the same time, are used instead"
        yield ReleaseNote(f"the rules of {delegate} in {{release}} are not known; {instead}", release)


def cpu_kernels_note(release: Release) -> ReleaseNote | None:
    """Return a note if the CPU kernels of a release are not simulated."""
    if release.is_at_least(_CPU_KERNELS_SINCE):
        return None
    instead = f"the checks of {_CPU_KERNELS_SINCE} are used instead"
    return ReleaseNote(f"the CPU kernels of {{release}} are not simulated; {instead}", release)


def predicted_build(release: Release) -> ReleaseNote:
    """Return a note that a prediction about a release is made from newer source code."""
    return ReleaseNote("whether {release} can create the delegate's kernels is predicted from the newest source code", release)
