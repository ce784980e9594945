"""Find the delegate that a kernel, library or log line belongs to. The delegate may be one that is not simulated."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from ...delegates.base import Delegate
from ...delegates.registry import (
    ACCELERATORS,
    APPLIED_AHEAD,
    ARM_NN_TITLE,
    CPU_LIBRARY_SPEAKER,
    DELEGATE_NAMES,
    DISPATCH_KERNEL,
    PLUGIN_NAMES,
    find_delegate,
)
from ...foundation.work_budget import spend_steps
from .known_lines import Statement
from .log_contents import DeviceLog, Replacement
from .operator_tables import is_inner_type
from .tables import FORMS, KINDS, Event, kinds_with, rows_of

_NAMES = rows_of("names")
_OTHERS = {row["words"]: row["title"] for row in _NAMES if row["of"] == "delegate"}
"""Titles of delegates that are not simulated. The keys are parts of their names."""
DISPATCH = "dispatch"
"""Part of the names of libraries and kernels that run compiled parts of a model."""
BEGINNING = "Initializing"
"""The word of ML Drift for a graphics interface that it uses. The older GPU delegate says ``Initialized``."""
ACCELERATOR_KERNELS = "LITERT_"
"""The prefix of the kernel names of LiteRT 2's graphics accelerator."""
_LEAST_CONCLUSIVE = max([properties.conclusive for properties in KINDS.values()])
UNNAMED_KERNEL = "DELEGATE"
"""The kernel name of every delegate in the operator tables of old releases."""


@functools.lru_cache(maxsize=256)
def plain_name(name: str) -> str:
    """Return a name in lower case, without common parts such as ``tflite``, ``delegate`` and ``kernel``."""
    return FORMS["decoration"].sub("", name.casefold())


def delegate_named(name: str) -> Delegate | None:
    """Return the delegate that a kernel, a provider or a log line names, or None if that delegate is not simulated."""
    spend_steps(3, "reading the log")
    plain = plain_name(name)
    return _by_plain_name().get(plain) if plain != "external" else None


@functools.cache
def _by_plain_name() -> Mapping[str, Delegate]:
    """The delegates by their kernels, then by their names. The kernel of compiler plugins identifies none of them."""
    delegates = [find_delegate(name) for name in DELEGATE_NAMES if name not in PLUGIN_NAMES]
    by_kernel = [(name, delegate) for delegate in delegates for name in delegate.kernel_names]
    by_name = [(name, delegate) for delegate in delegates for name in (delegate.name, delegate.provider_name)]
    # Of several delegates with one name, the first is named.
    named = {plain_name(name): delegate for name, delegate in reversed([*by_kernel, *by_name])}
    return {name: delegate for name, delegate in named.items() if name}


@functools.cache
def _by_spoken_name() -> Mapping[str, Sequence[Delegate]]:
    spoken: dict[str, list[Delegate]] = {}
    for delegate in map(find_delegate, DELEGATE_NAMES):
        if delegate.log.speaks_as:
            spoken.setdefault(plain_name(delegate.log.speaks_as), []).append(delegate)
    return spoken


def speaker(log: DeviceLog, name: str) -> Delegate | None:
    """Return the delegate that uses this name for itself in log lines, or None if that delegate is not simulated.

    Of two delegates with the name, the one with a kernel in the log is meant, or else other lines show which.
    """
    named = delegate_named(name)
    plain = plain_name(name)
    others = _by_spoken_name().get(plain, ()) if plain else ()
    if not others:
        return named
    candidates = [*filter(None, [named]), *others]
    kernels = {line.kernel for line in log.replacements} | {error.values["op"] for error in log.statements_of(Event.NODE_ERROR)}
    for candidate in candidates:
        if not kernels.isdisjoint(candidate.kernel_names):
            return candidate
    is_accelerator = log.is_of_compiled_model or any(
        statement.line.startswith((BEGINNING, ACCELERATOR_KERNELS)) for statement in log.statements_of(Event.INTERFACE_USED)
    )
    alike = [own for own in candidates if (own.name in ACCELERATORS.values()) == is_accelerator]
    return (alike or candidates)[0]


def names_of(log: DeviceLog, delegate: Delegate) -> set[str]:
    """Return all names that a delegate may have in the lines of a log, as plain names."""
    names = {plain_name(kernel_name) for kernel_name in (*delegate.kernel_names, delegate.provider_name, delegate.name)}
    shared = set(_by_spoken_name())
    shared_names = {name for name in shared & {*names, plain_name(delegate.log.speaks_as)} if speaker(log, name) is delegate}
    return (names - shared) | shared_names


def statements_by(log: DeviceLog, names: set[str], *kinds: str) -> list[Statement]:
    """Return the statements of these kinds with one of the plain names of a delegate."""
    return [statement for statement in log.statements_of(*kinds) if plain_name(statement.values.get("name", "")) in names]


def _whole_kernel(start: str) -> str:
    """If exactly one simulated delegate has a kernel name that begins with ``start``, return the name. Otherwise, return ""."""
    delegates = {delegate.name: delegate.kernel_names for delegate in map(find_delegate, DELEGATE_NAMES)}
    kernels = {name: kernel for name, own in delegates.items() for kernel in own if kernel.startswith(start)}
    return next(iter(kernels.values())) if len(kernels) == 1 else ""


def other_name(name: str) -> str:
    """Return the title of a delegate that is not simulated, from its name in a log. Return "" for an unknown name."""
    plain = plain_name(name)
    return next((text for part, text in _OTHERS.items() if part in plain), "")


def library_of(log: DeviceLog) -> str:
    """Return the path of the library from which a tool loaded a delegate, or "" if the log shows no library."""
    name = "external delegate path"
    return log.parameters.get(name, log.flags.get(name, "")).strip()


def delegate_of_library(path: str) -> Delegate | None:
    """Return the delegate in a library, or None if that delegate is not simulated."""
    file = re.split(r"[/\\]", path)[-1].casefold()
    delegates = map(find_delegate, DELEGATE_NAMES)
    return next((delegate for delegate in delegates if any(part in file for part in delegate.log.libraries)), None)


def names_in(log: DeviceLog) -> Iterator[str]:
    """Yield every name of an active delegate in the lines of a log. Names in the most conclusive kinds of lines come first."""
    yield from (replacement.kernel for replacement in log.replacements)
    named: dict[int, list[str]] = {level: [] for level in range(_LEAST_CONCLUSIVE + 1)}
    for statement in log.statements:
        if level := KINDS[statement.kind].conclusive:
            named[level] += _names_of_statement(statement)
    yield from (*named[1], *named[2])
    yield from (application.provider for application in log.applications)
    if has_hidden_kernels(log):
        yield CPU_LIBRARY_SPEAKER
    yield from log.table_operators
    for level in range(3, _LEAST_CONCLUSIVE + 1):
        yield from named[level]


def _names_of_statement(statement: Statement) -> list[str]:
    if statement.kind == Event.VERSION_SAID:  # of a delegate, or of a vendor's library
        return [statement.line] if any(word in statement.line for word in ("elegate", ARM_NN_TITLE)) else []
    name = statement.values.get("op" if statement.kind == Event.NODE_ERROR and "micro" not in statement.values else "name", "")
    return [name] if name else []


def has_inner_operators(log: DeviceLog) -> bool:
    """Return whether tables list operators inside kernels of the CPU library."""
    has_time = any(summary.inner_ms is not None for summary in log.summaries.values())
    return has_time or any(is_inner_type(row.op) for row in log.inner_rows)


def has_hidden_kernels(log: DeviceLog) -> bool:
    """Return whether tables list operators inside kernels of the CPU library, but no kernels."""
    return has_inner_operators(log) and not any(map(is_kernel, {*log.table_operators}))


def is_kernel(op: str) -> bool:
    """Return whether the operator in a row is a delegate kernel. In old releases, all kernels have the same name."""
    return op == UNNAMED_KERNEL or delegate_named(op) is not None


_TURNS, _OF_LAST_TURN, _OF_APPLICATION = kinds_with("is_turn"), kinds_with("is_of_last_turn"), kinds_with("is_of_application")


def turns(log: DeviceLog) -> list[tuple[int, str]]:
    """Return (line number, delegate name) for every delegate name in a log, in log order."""
    named = [(replacement.place, replacement.kernel) for replacement in log.replacements]
    named += [(application.place, application.provider) for application in log.applications]
    for statement in log.statements_of(*_TURNS):
        named += [(place, name) for place in statement.places for name in _names_of_statement(statement)]
    return sorted(named)


def last_turn(log: DeviceLog, names: set[str]) -> int:
    """Return the number of the delegate's last line about replaced nodes, or else of the last line that names it, or 0."""
    replaced = [replacement.place for replacement in log.replacements if plain_name(replacement.kernel) in names]
    return max(replaced or [place for place, name in turns(log) if plain_name(name) in names], default=0)


def without_errors_of_others(log: DeviceLog, names: set[str], *, is_certain: bool) -> DeviceLog:
    """Return a log without errors of other delegates than ``names``, and with ``is_certain`` those before all names."""
    named = turns(log)
    owners = {name: _owner(log, name, names) for _, name in named}
    known = [(place, owner) for place, name in named if (owner := owners[name])]
    requested = [(place, owner) for place, owner in known if owner != _BY_DEFAULT]

    def is_own(kind: str, place: int) -> bool:
        candidates = requested if kind in _OF_APPLICATION else known
        index = bisect_right(candidates, place, key=itemgetter(0))
        return candidates[index - 1][1] == _OWN if index else not is_certain

    statements = []
    for statement in log.statements:
        if statement.kind not in _OF_LAST_TURN:
            statements.append(statement)
        elif places := tuple([place for place in statement.places if is_own(statement.kind, place)]):
            statements.append(replace(statement, places=places))
    return replace(log, statements=tuple(statements))


def was_undone(log: DeviceLog, delegate: Delegate) -> bool:
    """Return whether a line that certainly is of a delegate says that it was not applied, or that its nodes were restored."""
    own = without_errors_of_others(log, names_of(log, delegate), is_certain=True)
    return own.has(Event.RESTORED, Event.NOT_APPLIED) or own.dynamic_tensor is not None


_OWN, _BY_DEFAULT, _ANOTHER = "own", "by-default", "another"


def _owner(log: DeviceLog, name: str, names: set[str]) -> str:
    if plain_name(name) in names:
        return _OWN
    delegate = speaker(log, name)
    if delegate is not None:
        return _BY_DEFAULT if delegate.is_applied_by_default else _ANOTHER
    return _ANOTHER if other_name(name) else ""


def accelerators_in(log: DeviceLog) -> tuple[str, ...]:
    """Return the accelerators of LiteRT 2 that the log shows, in the order in which LiteRT applies them."""
    kernels = {replacement.kernel for replacement in log.replacements}
    is_ahead = bool(log.plugins) or DISPATCH_KERNEL in kernels
    return tuple(
        accelerator
        for accelerator, name in ACCELERATORS.items()
        if (is_ahead if accelerator == APPLIED_AHEAD else not kernels.isdisjoint(find_delegate(name).kernel_names))
    )


def plugin_in(log: DeviceLog) -> Delegate | None:
    """Return the compiler plugin whose library is in the log, or None if there is no such library or plugin."""
    paths = [statement.values["path"] for statement in log.statements_of(Event.LIBRARY)]
    delegates = filter(None, map(delegate_of_library, paths))
    plugins = [delegate for delegate in delegates if delegate.log.prints_selection]
    return plugins[-1] if plugins else None


def others_in(log: DeviceLog) -> tuple[str, ...]:
    """Return the names of delegates that are not simulated, the most conclusive first."""
    names = [library_of(log), *names_in(log), *requested_accelerators(log)]
    names += [statement.values.get("path", "") for statement in log.statements_of(Event.LIBRARY_ERROR)]
    names += [name for name, kind in (("flex", Event.FLEX_ERROR), (DISPATCH, Event.COMPILED)) if log.has(kind)]
    names += [path for statement in log.statements_of(Event.LIBRARY) if DISPATCH in plain_name(path := statement.values["path"])]
    sources = [statement.values.get("source", "") for statement in log.statements_of(Event.LITERT, Event.FAILURE)]
    names += [re.split(r"[/\\]", source)[-1] for source in sources]
    names_of_others = [name for name in names if name and delegate_named(name) is None and other_name(name)]
    # Only delegates print counts of delegated nodes, and only delegates are applied, so such a line has a delegate's name.
    counting = [statement.values["name"] for statement in log.statements_of(Event.OWN_COUNT)]
    counting += [application.provider for application in log.applications]
    return tuple(dict.fromkeys([*names_of_others, *[name for name in counting if delegate_named(name) is None]]))


def accelerator_of(name: str) -> str:
    """Return the LiteRT 2 accelerator in a name, such as ``GPU`` for ``LiteRT GPU``. Return any other name unchanged."""
    known = [accelerator.upper() for accelerator in ACCELERATORS]
    return next((accelerator for accelerator in known if accelerator in name.upper()), name)


def registered_accelerators(log: DeviceLog) -> tuple[str, ...]:
    """Return the accelerators that LiteRT 2 registered, without duplicates."""
    names = [name for statement in log.statements_of(Event.REGISTERED) for name in statement.values["name"].split(", ")]
    return tuple(dict.fromkeys(map(accelerator_of, names)))


def registered_interfaces(log: DeviceLog) -> tuple[str, ...]:
    """Return the graphics interfaces that the names of registered accelerators contain, such as ``WebGPU``."""
    names = [statement.values.get("interface", "") for statement in log.statements_of(Event.REGISTERED)]
    return tuple(dict.fromkeys(filter(None, names)))


def requested_accelerators(log: DeviceLog) -> tuple[str, ...]:
    """Return the accelerators and delegates that a command in the log requests."""
    on = [name for name, value in log.flags.items() if name.startswith("use ") and value in ("true", "1")]
    return tuple(filter(None, [*[name.removeprefix("use ") for name in on], log.flags.get("backend", "")]))


_NEEDLES = tuple({word for row in _NAMES if row["of"] != "delegate" for word in row["words"].split("|")})
"""Words in lower case. Every line about a chip contains at least one of these words."""
_SOC_FORMS = ["(?P<{title}>{pattern})".format_map(row) for row in _NAMES if row["of"] == "soc"]
_SOCS = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_SOC_FORMS)})(?![A-Za-z0-9])", re.IGNORECASE)
"""Matches the model numbers of SoCs. The name of each group in the pattern is the vendor."""
_VENDORS = [(row["title"], re.compile(row["pattern"], re.IGNORECASE)) for row in _NAMES if row["of"] == "vendor"]


def chips_in(text: str) -> list[tuple[str, str]]:
    """Return the chips in a line, as (vendor, SoC). The SoC is "" if the line names only a vendor."""
    lower = text.lower()
    if not any(needle in lower for needle in _NEEDLES):
        return []
    names = [(str(match.lastgroup), match[0]) for match in _SOCS.finditer(text)]
    return names or [(vendor, "") for vendor, form in _VENDORS if form.search(text) is not None]


def chip_names(chips: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the distinct chips as text. A vendor without a SoC is left out if the text has a chip of this vendor."""
    named = {vendor for vendor, soc in chips if soc}
    texts = [f"{vendor} {soc.lower().replace('tensor_g', 'Tensor_G')}" for vendor, soc in chips if soc]
    return tuple(dict.fromkeys([*texts, *[vendor for vendor, soc in chips if not soc and vendor not in named]]))


def replacement_in(text: str, place: int = 0) -> Replacement | None:
    """Return the replacement that a line reports, or None for any other line. The end of the line may be cut off."""
    partitions: int | None
    match = FORMS["replacing"].search(text)
    if match is not None:
        line, kernel, name = match[0], match["kernel"], match["name"]
        partitions, subgraph = int(match["partitions"]), None if match["subgraph"] is None else int(match["subgraph"])
    elif (match := FORMS["replacing-cut"].search(text.rstrip(" .\u2026"))) is not None:
        rest, name, subgraph = match["rest"], None, None  # no rest if the line ends within the kernel's name
        kernel = _whole_kernel(match["kernel"]) if rest is None else match["kernel"]
        line = match[0] if rest is None else match[0].rstrip("0123456789")
        yielding = FORMS["yielding"].match(rest or "")
        partitions = None if yielding is None else int(yielding["partitions"])
    if match is None or not kernel:
        return None
    total = None if match["total"] is None else int(match["total"])
    return Replacement(line, kernel, int(match["replaced"]), total, partitions, subgraph, name, place)
