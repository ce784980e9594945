"""Identify the delegate that a kernel, library or log line belongs to, whether it can be simulated or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...delegates.base import Delegate
from ...delegates.registry import ACCELERATORS, APPLIED_AHEAD, DELEGATE_NAMES, DISPATCH_KERNEL, find_delegate
from .known_lines import (
    API_ERROR,
    APPLIED,
    FAILURE,
    FLEX_ERROR,
    INTERFACE_USED,
    KERNEL_ERROR,
    LIBRARY,
    LIBRARY_ERROR,
    LISTED_REFUSALS,
    LITERT,
    NODE_ERROR,
    OPERATOR_REFUSED,
    OWN_COUNT,
    PLACED,
    PREPARATION_ERROR,
    SAID,
    SPLIT,
)
from .log_contents import DeviceLog

_OTHERS = {
    "armnn": "Arm NN",
    "dispatch": "the dispatch of LiteRT 2's compiler plugins",
    "edgetpu": "Edge TPU",
    "ethosn": "Ethos-N",
    "ethosu": "Ethos-U",
    "flex": "Flex, which runs TensorFlow's operators",
    "hailo": "Hailo",
    **dict.fromkeys(("litertcl", "litertgl", "litertmetal", "litertvulkan", "litertwebgpu"), "LiteRT 2's graphics accelerator"),
    "neuron": "MediaTek's Neuron",
    "npu": "LiteRT 2's NPU accelerator",
    "qnn": "Qualcomm's QNN",
}
"""Delegates that are not simulated, by what their names have in common."""
DISPATCH = "dispatch"
"""What libraries and kernels that run compiled parts of a model have in their names."""
_BEGINNING = "Initializing"
"""How ML Drift words that it initializes an interface; the older delegate says so afterwards."""
UNNAMED_KERNEL = "DELEGATE"
"""What the tables of old releases call the kernel of any delegate."""
_EXTERNAL = "external"
_LIBRARY = "external delegate path"
_DECORATION = re.compile(r"tflite|delegate|provider|kernel|v2|for custom op|forcustomop|[\W_]")


def plain_name(name: str) -> str:
    """Return a name as it is without what names of kernels and providers have in common."""
    return _DECORATION.sub("", name.casefold())


def delegate_named(name: str) -> Delegate | None:
    """Return the delegate that a kernel, a provider or a line of its own names; None if no such delegate is simulated."""
    plain = plain_name(name)
    if not plain or plain == _EXTERNAL:
        return None
    # A compiler plugin cannot be told by the kernel that all of them leave in the graph.
    delegates = [each for each in map(find_delegate, DELEGATE_NAMES) if not each.is_plugin]
    for delegate in delegates:
        if plain in map(plain_name, delegate.kernel_names):
            return delegate
    return next((each for each in delegates if plain in (plain_name(each.name), plain_name(each.provider_name))), None)


def speaker(log: DeviceLog, name: str) -> Delegate | None:
    """Return the delegate whose lines call it by a name, as far as the rest of the log tells; None if it is not simulated.

    Two delegates may say the same of themselves: the one that has a kernel in the log counts, else the one that belongs to the
    runtime whose lines the log has.
    """
    found = delegate_named(name)
    plain = plain_name(name)
    others = [each for each in map(find_delegate, DELEGATE_NAMES) if plain and plain == plain_name(each.log.speaks_as)]
    if not others:
        return found
    candidates = [*([found] if found is not None else []), *others]
    kernels = {*[each.kernel for each in log.replacements], *[each.values["op"] for each in log.of(NODE_ERROR)]}
    for each in candidates:
        if not kernels.isdisjoint(each.kernel_names):
            return each
    is_accelerator = log.is_of_compiled_model or any(_BEGINNING in each.line for each in log.of(INTERFACE_USED))
    return next((each for each in candidates if (each.name in ACCELERATORS.values()) == is_accelerator), candidates[0])


def names_of(log: DeviceLog, delegate: Delegate) -> set[str]:
    """Return the plain names by which the lines of a log call a delegate."""
    names = {plain_name(each) for each in (*delegate.kernel_names, delegate.provider_name, delegate.name)}
    shared = {plain_name(each.log.speaks_as) for each in map(find_delegate, DELEGATE_NAMES) if each.log.speaks_as}
    told = {name for name in shared & {*names, plain_name(delegate.log.speaks_as)} if speaker(log, name) is delegate}
    return (names - shared) | told


def is_of(delegate: Delegate, kernel: str) -> bool:
    """Return whether a kernel's name is one of this delegate's."""
    return kernel in delegate.kernel_names


def other_name(name: str) -> str:
    """Return what is known of a name that no simulated delegate has; empty if nothing is."""
    plain = plain_name(name)
    return next((text for part, text in _OTHERS.items() if part in plain), "")


def library_of(log: DeviceLog) -> str:
    """Return the path of the library that a tool was told to load a delegate from; empty if there is none."""
    return log.parameters.get(_LIBRARY, log.flags.get(_LIBRARY, "")).strip()


def delegate_of_library(path: str) -> Delegate | None:
    """Return the delegate that a library has in it; None if none that is simulated."""
    file = re.split(r"[/\\]", path)[-1].casefold()
    delegates = map(find_delegate, DELEGATE_NAMES)
    return next((each for each in delegates if any(part in file for part in each.log.libraries)), None)


def names_in(log: DeviceLog) -> Iterator[str]:
    """Return every name by which the lines call a delegate that did something, those that are most telling first."""
    yield from (each.kernel for each in log.replacements)
    yield from (each.values["op"] for each in log.of(NODE_ERROR))
    yield from (each.values["name"] for each in log.of(OWN_COUNT, PREPARATION_ERROR) if "name" in each.values)
    yield from (each.provider for each in log.applications)
    yield from (row.op for table in log.run_orders.values() for row in table.rows)
    yield from (op for summary in log.summaries.values() for op in summary.counts)
    yield from (each.values["name"] for each in log.of(APPLIED, LISTED_REFUSALS, SPLIT, SAID) if "name" in each.values)
    yield from (
        each.values["name"] for each in log.of(OPERATOR_REFUSED, API_ERROR, KERNEL_ERROR, PLACED) if "name" in each.values
    )


def accelerators_in(log: DeviceLog) -> tuple[str, ...]:
    """Return LiteRT 2's accelerators that a line shows to be applied, in the order in which they are."""
    kernels = {each.kernel for each in log.replacements}
    found = []
    for accelerator, name in ACCELERATORS.items():
        if accelerator == APPLIED_AHEAD:
            is_shown = bool(log.plugins) or DISPATCH_KERNEL in kernels
        else:
            is_shown = not kernels.isdisjoint(find_delegate(name).kernel_names)
        found += [accelerator] if is_shown else []
    return tuple(found)


def plugin_in(log: DeviceLog) -> Delegate | None:
    """Return the compiler plugin that a library in the log is of; None if none is named, or none that is simulated."""
    paths = [each.values["path"] for each in log.of(LIBRARY)]
    found = [each for path in paths if (each := delegate_of_library(path)) is not None and each.is_plugin]
    return found[-1] if found else None


def others_in(log: DeviceLog) -> tuple[str, ...]:
    """Return the names in a log that are of delegates that are not simulated, each once, those that are most telling first."""
    names = [library_of(log), *names_in(log), *asked_accelerators(log)]
    names += [each.values["path"] for each in log.of(LIBRARY_ERROR)]
    names += ["flex"] * bool(log.of(FLEX_ERROR))
    names += [path for each in log.of(LIBRARY) if DISPATCH in plain_name(path := each.values["path"])]
    names += [each.values["source"] for each in log.of(LITERT, FAILURE) if "source" in each.values]
    found = [name for name in names if name and delegate_named(name) is None and other_name(name)]
    # Whatever counts nodes as delegated is a delegate, though nothing is known of its name.
    found += [name for each in log.of(OWN_COUNT) if delegate_named(name := each.values["name"]) is None]
    return tuple(dict.fromkeys(found))


def asked_accelerators(log: DeviceLog) -> tuple[str, ...]:
    """Return the accelerators and delegates that a command in the log asks for."""
    asked = [key for key, value in log.flags.items() if key.startswith("use ") and value in ("true", "1")]
    return tuple([key.removeprefix("use ") for key in asked])
