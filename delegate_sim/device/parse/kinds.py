"""The kinds of lines in a log: one row for each kind, with everything that the readers of a log have to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


class Event:
    """The names of the kinds of lines."""

    OWN_COUNT, SPLIT, KERNELS, EXECUTED, MEASURED = "own-count", "split", "kernels", "executed", "measured"
    LISTED_REFUSALS, LISTED_REFUSAL, OPERATOR_REFUSED = "listed-refusals", "listed-refusal", "operator-refused"
    API_ERROR, NODE_ERROR, BUILTIN_ERROR, CUSTOM_ERROR = "api-error", "node-error", "builtin-error", "custom-error"
    DYNAMIC_ERROR, IMMUTABLE_ERROR, KERNEL_ERROR, HINT_ERROR = "dynamic-error", "immutable-error", "kernel-error", "hint-error"
    CALL_ERROR, BUILD_ERROR, PREPARATION_ERROR, FAILURE = "call-error", "build-error", "preparation-error", "failure"
    OTHER_ERROR, PLAIN_ERROR, UNSURE_ERROR, COMPILER_ERROR = "other-error", "plain-error", "unsure-error", "compiler-error"
    LIBRARY_ERROR, FLEX_ERROR, VENDOR_ERROR, RUNTIME_ERROR = "library-error", "flex-error", "vendor-error", "runtime-error"
    CRASH, BENCHMARK_FAILED, LOAD_ERROR, WARNED = "crash", "benchmark-failed", "load-error", "warned"
    CREATED, NOT_CREATED, NOT_APPLIED, APPLIED, RESTORED = "created", "not-created", "not-applied", "applied", "restored"
    COMPILED, COMPILED_PART, LIBRARY, SKIPPED, LITERT = "compiled", "compiled-part", "library", "skipped", "litert"
    REGISTERED, NOT_REGISTERED, MISSING_SERVICE, VERSION_SAID = "registered", "not-registered", "missing-service", "version-said"
    CHOICE, FINISHED, INTERFACE, DRIVER_REFUSAL, RUNTIME = "choice", "finished", "interface", "driver-refusal", "runtime"
    NPU_ROW, NPU_GRAPH, NPU_DONE = "npu-row", "npu-graph", "npu-done"
    SAID, NOTED, PROGRESS, VENDOR, INTERFACE_USED = "said", "noted", "progress", "vendor", "interface-used"
    DEFAULT_LEFT_OUT = "default-left-out"


@dataclass(frozen=True, slots=True)
class Traits:
    """Everything that is known about a kind of line."""

    is_error: bool = False
    rank: int | None = None
    """Place among the causes: the error with the lowest rank says most about the cause. None if the line is no cause."""
    meaning: str = ""
    """The meaning of an error if neither its values nor its words say more."""
    conclusive: int = 0
    """Place among the lines that name an active delegate: 1 is most conclusive. 0 if the line names none."""
    is_turn: bool = False
    """True if the line names a delegate that the runtime was applying or running."""
    is_of_last_turn: bool = False
    """True if the line may name no delegate. It then belongs to the delegate that the log named last."""
    is_of_application: bool = False
    """True if only a call by the application can cause the line, so it never is of a delegate that is applied by default."""
    is_certain: bool = False
    """True if an error is certainly of the delegate that it names or follows, also if the log has several delegates."""
    says_failed: bool = False
    """True if the line means that the delegate that it names was not applied."""
    says_made: bool = False
    """True if the line means that the delegate that it names was created."""
    is_before: bool = False
    """True if a delegate prints the line before the line about replaced nodes."""
    is_first: bool = False
    """True if a process may begin with the line."""
    is_of_process: bool = False
    """True if a process prints the line once for all its runs."""
    is_of_start: bool = False
    """True if the line holds for all runs of a process if it comes before the first line about replaced nodes."""
    is_numerous: bool = False
    """True if a log may have very many such lines, so only the first of each source is kept."""
    is_telling: bool = True
    """False if the line is only about delegates if it has values, because any program may print such lines."""
    is_of_litert: bool = False
    """True if only LiteRT 2 prints the line, which applies accelerators instead of delegates."""
    is_behind: bool = False
    """True if a driver, or the runtime behind a delegate, prints the line."""
    part: str = ""
    """The part of the system that prints the line, if the line says nothing about a delegate's outcome."""


_NNAPI, _LITERT = "Android's neural networks runtime", "LiteRT 2's runtime"
_VENDOR = "the accelerator's vendor library"
KINDS: Mapping[str, Traits] = MappingProxyType(
    {
        Event.OWN_COUNT: Traits(conclusive=2, is_turn=True, is_before=True, is_first=True),
        Event.LISTED_REFUSALS: Traits(conclusive=3, is_turn=True, says_made=True, is_before=True, is_first=True),
        Event.LISTED_REFUSAL: Traits(conclusive=3, says_made=True, is_before=True),
        Event.SPLIT: Traits(conclusive=3, is_turn=True, is_before=True),
        Event.OPERATOR_REFUSED: Traits(conclusive=4, says_made=True, is_before=True),
        Event.KERNELS: Traits(is_turn=True),
        Event.EXECUTED: Traits(),
        Event.MEASURED: Traits(is_telling=False),
        Event.CREATED: Traits(is_turn=True, is_first=True),
        Event.APPLIED: Traits(conclusive=3, is_turn=True),
        Event.INTERFACE_USED: Traits(conclusive=6),
        Event.SAID: Traits(conclusive=3, says_made=True, is_numerous=True),
        Event.NOTED: Traits(is_numerous=True),
        Event.PROGRESS: Traits(is_numerous=True, is_telling=False),
        Event.NODE_ERROR: Traits(is_error=True, rank=5, conclusive=1, is_turn=True, is_certain=True),
        Event.PREPARATION_ERROR: Traits(is_error=True, rank=1, conclusive=2, is_turn=True, is_of_last_turn=True, is_certain=True),
        Event.API_ERROR: Traits(is_error=True, rank=1, conclusive=4, is_turn=True, is_certain=True, says_failed=True),
        Event.HINT_ERROR: Traits(
            is_error=True,
            rank=1,
            conclusive=3,
            is_turn=True,
            is_certain=True,
            says_failed=True,
            is_of_litert=True,
            meaning="one accelerator has to take the whole graph, but it refuses some operators; nothing is delegated",
        ),
        Event.KERNEL_ERROR: Traits(
            is_error=True,
            rank=4,
            conclusive=4,
            is_turn=True,
            is_of_last_turn=True,
            is_certain=True,
            meaning="the delegate could not create the kernel of a partition; the error before this line says why",
        ),
        Event.DYNAMIC_ERROR: Traits(
            is_error=True,
            rank=1,
            is_of_last_turn=True,
            is_certain=True,
            meaning="the delegate does not accept a tensor whose shape is known only at run time; nothing is delegated",
        ),
        Event.IMMUTABLE_ERROR: Traits(
            is_error=True,
            rank=3,
            is_of_last_turn=True,
            is_of_application=True,
            is_certain=True,
            meaning="another delegate was already applied to the interpreter; the error before this line says more",
        ),
        Event.RESTORED: Traits(is_of_last_turn=True, is_certain=True),
        Event.NOT_APPLIED: Traits(is_of_last_turn=True, is_of_application=True, is_certain=True),
        Event.DEFAULT_LEFT_OUT: Traits(
            meaning="not an error by itself: the runtime goes on without the delegate that it applies by default"
        ),
        Event.NOT_CREATED: Traits(
            is_error=True,
            rank=3,
            conclusive=6,
            meaning="the delegate is not available on this device, or lacks a library; nothing is applied",
        ),
        Event.OTHER_ERROR: Traits(
            is_error=True, rank=2, conclusive=4, is_turn=True, says_failed=True, is_of_start=True, is_telling=False
        ),
        Event.FAILURE: Traits(is_error=True, rank=2, is_of_start=True, is_telling=False),
        Event.VENDOR_ERROR: Traits(is_error=True, rank=0, conclusive=4, is_of_start=True, part=_VENDOR),
        Event.LIBRARY_ERROR: Traits(is_error=True, rank=1, conclusive=4),
        Event.BUILTIN_ERROR: Traits(is_error=True, rank=1),
        Event.CUSTOM_ERROR: Traits(is_error=True, rank=2),
        Event.CALL_ERROR: Traits(is_error=True, rank=1),
        Event.BUILD_ERROR: Traits(
            is_error=True, rank=1, meaning="the device's driver could not compile a program of the delegate"
        ),
        Event.FLEX_ERROR: Traits(
            is_error=True,
            rank=1,
            meaning="the model has TensorFlow operators; link the Flex delegate into the application and apply it",
        ),
        Event.LOAD_ERROR: Traits(is_error=True, rank=7, meaning="the runtime could not load or prepare the model"),
        Event.BENCHMARK_FAILED: Traits(is_error=True, meaning="benchmark_model ended before it ran the model"),
        Event.CRASH: Traits(is_error=True, meaning="the process crashed"),
        Event.COMPILER_ERROR: Traits(rank=1),
        Event.PLAIN_ERROR: Traits(rank=6),
        Event.UNSURE_ERROR: Traits(),
        Event.WARNED: Traits(is_telling=False),
        Event.MISSING_SERVICE: Traits(),
        Event.VERSION_SAID: Traits(conclusive=5, is_of_process=True),
        Event.COMPILED: Traits(is_of_litert=True, part="LiteRT 2's compiler plugins"),
        Event.COMPILED_PART: Traits(conclusive=4),
        Event.REGISTERED: Traits(is_first=True, is_of_process=True, is_of_litert=True, part=_LITERT),
        Event.NOT_REGISTERED: Traits(
            is_error=True, is_first=True, is_of_process=True, meaning="the accelerator is not available, so it cannot be applied"
        ),
        Event.LIBRARY: Traits(is_first=True, is_of_process=True),
        Event.SKIPPED: Traits(is_of_litert=True, part=_LITERT),
        Event.LITERT: Traits(is_of_process=True, is_numerous=True, is_of_litert=True, part=_LITERT),
        Event.CHOICE: Traits(is_behind=True, part=_NNAPI),
        Event.FINISHED: Traits(is_behind=True, part=_NNAPI),
        Event.INTERFACE: Traits(is_behind=True, part=_NNAPI),
        Event.RUNTIME: Traits(is_numerous=True, is_behind=True, part=_NNAPI),
        Event.RUNTIME_ERROR: Traits(is_error=True, rank=1, is_behind=True, part=_NNAPI),
        Event.DRIVER_REFUSAL: Traits(is_behind=True, part="the accelerator's driver"),
        Event.VENDOR: Traits(conclusive=6, is_numerous=True, part=_VENDOR),
        Event.NPU_ROW: Traits(conclusive=3, says_made=True),
        Event.NPU_GRAPH: Traits(conclusive=3),
        Event.NPU_DONE: Traits(conclusive=3),
    }
)
"""The properties of each kind of line."""


def kinds_with(trait: str) -> tuple[str, ...]:
    """Return the kinds for which a field of ``Traits`` is true."""
    return tuple([kind for kind, traits in KINDS.items() if getattr(traits, trait)])


ERRORS = frozenset(kinds_with("is_error"))
"""The kinds of lines that report an error."""
