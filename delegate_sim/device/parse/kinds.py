"""The kinds of lines in a log. ``kinds.tsv`` has a row for each kind, with everything that the readers of a log know about it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from .tables import rows_of


class Event:
    """The names of the kinds of lines that code mentions. Other kinds only have a row in the table."""

    OWN_COUNT, SPLIT, KERNELS, EXECUTED, MEASURED = "own-count", "split", "kernels", "executed", "measured"
    LISTED_REFUSALS, LISTED_REFUSAL, OPERATOR_REFUSED = "listed-refusals", "listed-refusal", "operator-refused"
    API_ERROR, NODE_ERROR, BUILTIN_ERROR, CUSTOM_ERROR = "api-error", "node-error", "builtin-error", "custom-error"
    DYNAMIC_ERROR, IMMUTABLE_ERROR, KERNEL_ERROR, HINT_ERROR = "dynamic-error", "immutable-error", "kernel-error", "hint-error"
    BUILD_ERROR, PREPARATION_ERROR, FAILURE = "build-error", "preparation-error", "failure"
    OTHER_ERROR, PLAIN_ERROR, UNSURE_ERROR, COMPILER_ERROR = "other-error", "plain-error", "unsure-error", "compiler-error"
    LIBRARY_ERROR, FLEX_ERROR, VENDOR_ERROR, RUNTIME_ERROR = "library-error", "flex-error", "vendor-error", "runtime-error"
    CRASH, BENCHMARK_FAILED, LOAD_ERROR, WARNED = "crash", "benchmark-failed", "load-error", "warned"
    CREATED, NOT_CREATED, NOT_APPLIED, APPLIED, RESTORED = "created", "not-created", "not-applied", "applied", "restored"
    COMPILED, COMPILED_PART, LIBRARY, LITERT = "compiled", "compiled-part", "library", "litert"
    PLUGINS_APPLIED = "plugins-applied"
    REGISTERED, NOT_REGISTERED, MISSING_SERVICE, VERSION_SAID = "registered", "not-registered", "missing-service", "version-said"
    CHOICE, DRIVER_REFUSAL, RUNTIME, NPU_ROW, NPU_GRAPH = "choice", "driver-refusal", "runtime", "npu-row", "npu-graph"
    NOTED, PROGRESS, VENDOR, INTERFACE_USED = "noted", "progress", "vendor", "interface-used"
    DEFAULT_LEFT_OUT, ALL_REVERTED, REFUSED = "default-left-out", "all-reverted", "refused"


@dataclass(frozen=True, slots=True)
class StatementKind:
    """Everything that is known about a kind of line. ``kinds.tsv`` explains the fields and the names of the traits."""

    rank: int | None
    conclusive: int
    traits: frozenset[str]
    part: str
    meaning: str


KINDS = MappingProxyType(
    {
        row["kind"]: StatementKind(
            int(row["rank"]) if row["rank"] else None,
            int(row["conclusive"] or 0),
            frozenset(filter(None, row["traits"].split(", "))),
            row["part"],
            row["meaning"],
        )
        for row in rows_of("kinds")
    }
)


def kinds_with(trait: str) -> tuple[str, ...]:
    """Return the kinds that have a trait."""
    return tuple([kind for kind, properties in KINDS.items() if trait in properties.traits])


ERRORS = frozenset(kinds_with("is_error"))
