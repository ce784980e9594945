"""Models that were compiled ahead of time, and options of custom operators, which a file stores as flexbuffers.

A compiler replaces nodes with a custom operator that contains a program for an accelerator. Each accelerator has its own
operator.

Source: ``litert/core/build_stamp.h`` and ``litert/core/dispatch_op_schema.h`` of LiteRT; ``kCustomOp``
(``tflite/public/edgetpu.h``) of google-coral/libedgetpu; ``NBGOpMap`` of VeriSilicon/tflite-vx-delegate;
``IsNodeSupportedByDelegate`` of nxp-imx/tflite-ethosu-delegate-imx and nxp-imx/tflite-neutron-delegate.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from ..bundles.ranged import part_of
from ..foundation.printable import and_list, printable
from ..foundation.work_budget import spend_bytes, spend_steps
from .ethosu_programs import ETHOS_U, accelerators
from .model import Model, Node

T = TypeVar("T")

_READING_ERRORS = (AssertionError, IndexError, KeyError, OverflowError, TypeError, ValueError, struct.error)

_SMALLEST = 3
"""The size of the smallest flexbuffer: a value, its type, and its width."""
_WIDTHS = (1, 2, 4, 8)
_LONGEST_KEY = 256
"""Number of bytes of a key that are compared, more than a key has that is asked for."""
_STEPS_OF_A_SEARCH = 10
_READING = "reading the options of custom operators"


def custom_options(model: Model, node: Node) -> FlexbufferMap:
    """Return the options of a custom operator. If the node has no options, every key is absent."""
    offset, size = node.custom_options or (0, 0)
    if not isinstance(model.content, memoryview):
        spend_bytes(size, _READING)
    return FlexbufferMap(part_of(model.content, offset, offset + size))


class _StoredValue:
    """Bytes for the flexbuffers package, which slices them. Only short slices are copied.

    The package takes everything behind the start of a key to search for the key's end. A file decides how much that is, and how
    many nodes have the same options.
    """

    def __init__(self, content: memoryview) -> None:
        self._content = content

    def __len__(self) -> int:
        return len(self._content)

    def __getitem__(self, key: int | slice) -> int | bytes | _StoredValue:
        if isinstance(key, int):
            return self._content[key]
        return _StoredValue(self._content[key]) if key.stop is None else bytes(self._content[key])

    def find(self, byte: int) -> int:
        place = bytes(self._content[:_LONGEST_KEY]).find(byte)
        return _LONGEST_KEY if place < 0 and len(self) > _LONGEST_KEY else place


class FlexbufferMap:
    """The map in a flexbuffer.

    For a missing, unreadable or wrongly typed value, methods return None or an empty result.
    """

    def __init__(self, content: bytes | memoryview) -> None:
        from flatbuffers import flexbuffers  # imported here because few models need it

        self._map: Any = {}
        self._values: dict[str, Any] = {}
        self.is_valid = False
        """True if the content is a flexbuffer. A valid flexbuffer need not have a map."""
        try:
            root = flexbuffers.GetRoot(_StoredValue(memoryview(content)))
            self.is_valid = len(content) >= _SMALLEST and content[-1] in _WIDTHS
            self._map = root.AsMap
        except _READING_ERRORS:
            pass

    def _read(self, key: str, convert: Callable[[Any], T], absent: T) -> T:
        """Convert the value of a key, which is searched for once. Return ``absent`` if there is no value or it cannot be read."""
        if key not in self._values:
            spend_steps(_STEPS_OF_A_SEARCH, _READING)
            try:
                self._values[key] = self._map[key]
            except _READING_ERRORS:
                self._values[key] = None
        value = self._values[key]
        try:
            return absent if value is None else convert(value)
        except _READING_ERRORS:
            return absent

    def has(self, key: str) -> bool:
        """Return whether the map has a key with a value other than null."""
        return self._read(key, lambda value: not value.IsNull, False)

    def text(self, key: str) -> str | None:
        """Return the value of a key as text, or None if the value is not a string."""
        text = self._read(key, lambda value: str(value.AsString) if value.IsString else None, None)
        spend_bytes(len(text or ""), _READING)
        return text

    def part(self, key: str) -> FlexbufferMap:
        """Return the map under a key, or an empty map if there is no map."""
        entries = FlexbufferMap(b"")
        entries._map = self._read(key, lambda value: value.AsMap if value.IsMap else {}, {})
        return entries

    def integers(self, key: str) -> list[int]:
        """Return the integers of the vector under a key, or an empty list if there is no vector."""

        def listed(value: Any) -> list[int]:
            vector = value.AsTypedVector if value.IsTypedVector or value.IsFixedTypedVector else value.AsVector
            spend_steps(len(vector), _READING)
            return [int(vector[position].AsInt) for position in range(len(vector))]

        return self._read(key, listed, [])

    def number(self, key: str) -> float | None:
        """Return the value of a key as a number, or None if the value is not a number."""
        return self._read(key, lambda value: float(value.AsFloat) if value.IsNumeric else None, None)

    def integer(self, key: str) -> int | None:
        """Return the value of a key as an integer, without its fraction, or None if the value is not a number."""

        def whole(value: Any) -> int | None:
            is_number = value.IsNumeric or value.IsBool
            return int(value.AsFloat if value.IsFloat else value.AsInt) if is_number else None

        return self._read(key, whole, None)


DISPATCH = "DISPATCH_OP"
"""The custom operator that runs a program from a compiler plugin of LiteRT."""
EDGE_TPU = "edgetpu-custom-op"


class CompiledOperator(NamedTuple):
    """A custom operator that contains a program for one accelerator."""

    accelerator: str
    compiler: str
    """The name of the tool that makes the programs, for use in a sentence."""
    runner: str
    """The name of the delegate that runs the programs, for use in a sentence."""


COMPILED_OPERATORS: Mapping[str, CompiledOperator] = {
    DISPATCH: CompiledOperator("an NPU", "LiteRT's compiler for an NPU", "LiteRT's dispatch delegate"),
    EDGE_TPU: CompiledOperator("the Edge TPU", "the compiler of the Edge TPU", "the Edge TPU's delegate (libedgetpu)"),
    ETHOS_U: CompiledOperator("Arm's Ethos-U", "Vela, for Arm Ethos-U", "the Ethos-U delegate"),
    "NeutronGraph": CompiledOperator("NXP's Neutron", "the converter of NXP's Neutron NPU", "the Neutron delegate"),
    "vsi-npu": CompiledOperator("VeriSilicon's NPU", "VeriSilicon's compiler", "VeriSilicon's delegate"),
}
"""The custom operators of all known compilers, by name."""
_STAMP = "LiteRtStamp"
_STAMP_FIELD = 125
"""Size in bytes of each string in the build stamp."""


class Precompiled(NamedTuple):
    """A model file's data about its compilation. All fields are empty if the model was not compiled."""

    manufacturer: str = ""
    soc: str = ""
    is_stamped: bool = False
    code_sizes: tuple[int, ...] = ()
    """The size in bytes of each compiled node's code."""
    other_nodes: int = 0

    @property
    def is_compiled(self) -> bool:
        """True if the file has compiled code or a build stamp."""
        return self.is_stamped or bool(self.code_sizes)

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences for reports about a compiled file."""
        if not self.is_compiled:
            return ()
        target = (
            f"{printable(self.manufacturer)} {printable(self.soc)}".strip()
            if self.is_stamped
            else "a SoC that the file does not name"
        )
        total = len(self.code_sizes) + self.other_nodes
        size = max(self.code_sizes, default=0)
        return (
            f"the model is already compiled for {target}: {len(self.code_sizes):,} of its {total:,} nodes run compiled code "
            f"(DISPATCH_OP, up to {size:,} bytes each), so CompiledModel does not pass the model to a compiler plugin again",
            "the file does not show which nodes of the source model were compiled, or which version of the plugin compiled "
            f"them{': it names only the SoC' if self.is_stamped else ''}. Other targets need the source model",
        )


def compiled_for(model: Model, runnable: Collection[str] = ()) -> Iterator[str]:
    """Yield sentences about the compiled programs in a model, except programs from LiteRT's plugins (see ``precompiled``).

    ``runnable`` has the custom operators that the simulated delegates run.
    """
    codes = [code.custom_code for code in model.operator_codes if code.custom_code in COMPILED_OPERATORS]
    if all(code == DISPATCH for code in codes):
        return
    nodes = [node for subgraph in model.subgraphs for node in subgraph.nodes]
    counts = Counter(node.custom_code for node in nodes if is_program(node))
    for code, count in counts.items():
        operator = COMPILED_OPERATORS[str(code)]
        if code != DISPATCH:
            yield (
                f"this model was compiled for {_accelerator(model, str(code))}: {count:,} of its {len(nodes):,} nodes "
                f"{'is' if count == 1 else 'are'} {code}, which {operator.compiler} made. "
                f"{_consequence(operator, is_runnable=code in runnable)}"
            )


def compiled_elsewhere(model: Model, runnable: Collection[str] = ()) -> str:
    """Return the accelerator for which a model was compiled, as a name for use in a sentence.

    Return "" if there is no such accelerator. Programs in custom operators that the simulated delegate runs (``runnable``) are
    ignored.
    """
    codes = [str(code.custom_code) for code in model.operator_codes if code.custom_code in COMPILED_OPERATORS]
    code = next((code for code in codes if code not in runnable), "")
    if not code:
        return ""
    stamp = _stamp(model) if code == DISPATCH else None
    return _accelerator(model, code) if stamp is None else printable(" ".join(stamp)).strip()


def _accelerator(model: Model, code: str) -> str:
    names = accelerators(model) if code == ETHOS_U else ()
    accelerator = COMPILED_OPERATORS[code].accelerator
    return f"{accelerator} ({and_list(names)})" if names else accelerator


def _consequence(operator: CompiledOperator, *, is_runnable: bool) -> str:
    if is_runnable:
        return (
            f"Without {operator.runner}, the model does not run, not even on the CPU. The file does not show which nodes were "
            "compiled"
        )
    return f"The model runs only with {operator.runner}: other targets need the source model"


def is_program(node: Node) -> bool:
    """Return whether a node contains a program that a known compiler made."""
    return node.is_custom and node.custom_code in COMPILED_OPERATORS


def is_dispatch(node: Node) -> bool:
    """Return whether a node runs code that was compiled ahead of time."""
    return node.is_custom and node.custom_code == DISPATCH


def has_dispatches(model: Model) -> bool:
    """Return whether the model lists the operator that runs compiled code."""
    return any(code.custom_code == DISPATCH for code in model.operator_codes)


def precompiled(model: Model) -> Precompiled:
    """Return a model file's data about its compilation: the build stamp and the sizes of compiled nodes."""
    stamp = _stamp(model)
    if stamp is None and not has_dispatches(model):
        return Precompiled()
    code_sizes: list[int] = []
    others = 0
    for subgraph in model.subgraphs:
        for node in subgraph.nodes:
            if is_dispatch(node):
                code_sizes.append(custom_options(model, node).integer("bytecode_size") or 0)
            else:
                others += 1
    if stamp is None and not code_sizes:
        return Precompiled()
    return Precompiled(*(stamp or ("", "")), stamp is not None, tuple(code_sizes), others)


def _stamp(model: Model) -> tuple[str, str] | None:
    span = model.metadata.get(_STAMP)
    if span is None or span[1] != 2 * _STAMP_FIELD:
        return None
    content = bytes(model.content[span[0] : span[0] + span[1]])
    parts = (content[:_STAMP_FIELD], content[_STAMP_FIELD:])
    manufacturer, soc = [part.split(b"\0", 1)[0].decode("utf-8", "replace") for part in parts]
    return manufacturer, soc
