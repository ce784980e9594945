"""The manifest of an application, and what accelerators need of it (the rows of ``needs.tsv``).

The manifest is binary XML in an APK, a protocol buffer in an app bundle (AAB), and XML in a library (AAR).
Source: ``libs/androidfw/include/androidfw/ResourceTypes.h`` of platform/frameworks/base (``ResXMLTree_node``,
``ResXMLTree_attrExt``, ``ResStringPool_header``, ``Res_value``), and ``tools/aapt2/Resources.proto`` (``XmlNode``).
"""

from __future__ import annotations

import csv
import json
import pkgutil
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.parsers import expat

from ..bundles.bundle_error import READING
from ..foundation.columns import Declared
from ..foundation.work_budget import spend_steps
from ..llm.sections import ProtobufError, ProtobufMessage
from ..rules.kinds import Explanation


class Need(NamedTuple):
    """One need of an accelerator: any one of ``names`` is enough. ``{}`` in a name stands for the version of Qualcomm's HTP."""

    code: str
    target: str
    is_of_interpreter: bool
    """Whether the classic Interpreter applies the accelerator, and not CompiledModel."""
    may_be_linked: bool
    """Whether LiteRT-LM's library may contain the accelerator."""
    is_declared: bool
    """Whether the manifest has to declare a library of the phone, unless the application has a library of this name."""
    names: tuple[str, ...]
    needs_compiler: bool
    """Whether only models need it that are not compiled for the vendor yet."""
    each_version: bool
    abis: tuple[str, ...]
    """The only ABIs of the accelerator; empty for every ABI of the application."""
    for_all: bool
    """Whether every phone with the accelerator needs it. Otherwise, only some phones do."""


def _needs() -> tuple[Need, ...]:
    lines = (pkgutil.get_data(__package__, "needs.tsv") or b"").decode("utf-8").splitlines()
    rows = csv.DictReader([line for line in lines if not line.startswith("#")], delimiter="\t")
    return tuple(
        [
            Need(
                row["code"],
                row["target"],
                row["runtime"] == "Interpreter",
                row["runtime"].endswith("linked"),
                row["kind"] == "declared",
                tuple(row["needed"].split(",")),
                row["when"] == "not compiled",
                row["when"] == "each version",
                tuple([abi for abi in row["abis"].split(",") if abi]),
                row["phones"] == "all",
            )
            for row in rows
        ]
    )


NEEDS = _needs()
"""All needs, those of one target one after another."""
CODES: Mapping[str, Explanation] = {
    code: Explanation(**texts) for code, texts in json.loads(pkgutil.get_data(__package__, "codes.json") or b"").items()
}
"""The explanations of needs and of facts that the file of an application does not show."""
HTP_VERSIONS: Mapping[str, frozenset[str]] = {
    "V68": frozenset({"SM8350", "SM8350P", "SM7350", "SM7325", "SM7315", "QCM6490", "SA8295"}),
    "V69": frozenset({"SM8475", "SM8450", "SM7475", "SM7450", "SM7425", "SXR2230P", "SXR2250P"}),
    "V73": frozenset(
        {
            *("SM8550", "SM8635", "SM7675", "SM7550", "SM7435", "SM6450", "SC8380XP", "QCM8550LA", "QCM8550LE", "QCM6690"),
            *("QCS6690", "QCS9075", "QCS9100", "SA8255", "SAR2130P", "SSG2115P", "SSG2125P", "SXR1230P"),
        }
    ),
    "V75": frozenset({"SM8650", "QCS8275", "QCS8300", "QCS8625"}),
    "V79": frozenset({"SM8750", "SXR2330P"}),
    "V81": frozenset({"SM8850", "SM8845", "SM8845P", "SC8480XP", "SAR2230P", "SW6100"}),
}
"""The SoCs of each version of Qualcomm's HTP (``litert/vendors/qualcomm/supported_soc.csv``)."""


_FILE, _STRING_POOL, _RESOURCE_MAP, _START_ELEMENT = 0x0003, 0x0001, 0x0180, 0x0102
_NAMES = {
    0x01010003: "name",
    0x0101028E: "required",
    0x010104EA: "extractNativeLibs",
    0x0101020C: "minSdkVersion",
    0x01010270: "targetSdkVersion",
}
"""Android's numbers of attributes. Android reads an attribute by its number, whatever its name is."""
_UTF8 = 1 << 8
_STRING, _BOOLEAN = 0x03, 0x12
_NONE = 0xFFFFFFFF
_ELEMENT_HEADER = 36
_ATTRIBUTE = struct.Struct("<4xII3xBI")
_LONGEST_STRING = 1_000
"""Largest number of characters of a string that is kept. Names of libraries and packages are shorter."""
_CHUNKS_IN_A_STEP = 4
_BYTES_OF_TEXT_IN_A_STEP = 25
"""A decoded string takes up to four times as many bytes as in the file."""

Element = tuple[str, Mapping[str, str]]
"""The name of an element and its attributes. Numbers and truth values are texts, as in XML."""


class XmlError(ValueError):
    """Raised if bytes are not XML in the form that Android reads."""


def is_binary_xml(content: bytes) -> bool:
    """Return whether bytes begin like binary XML."""
    return content[:2] == struct.pack("<H", _FILE)


def elements(content: bytes, wanted: Collection[str]) -> Iterator[Element]:
    """Yield the elements with the wanted names, in order. Raises XmlError."""
    try:
        yield from _elements(content, wanted)
    except struct.error as error:
        raise XmlError("it ends too early") from error


def _elements(content: bytes, wanted: Collection[str]) -> Iterator[Element]:
    strings, numbers = _Strings(b""), tuple[int, ...]()
    at = struct.unpack_from("<H", content, 2)[0]
    chunks = 0
    while at + 8 <= len(content):
        kind, header, size = struct.unpack_from("<HHI", content, at)
        if size < max(header, 8) or at + size > len(content):
            raise XmlError(f"the part at byte {at:,} has a wrong size")
        chunks += 1
        spend_steps(chunks % _CHUNKS_IN_A_STEP == 0, READING)
        if kind == _STRING_POOL:
            strings = _Strings(content[at : at + size])
        elif kind == _RESOURCE_MAP:
            numbers = struct.unpack_from(f"<{(size - header) // 4}I", content, at + header)
        elif kind == _START_ELEMENT and size >= _ELEMENT_HEADER:
            name = strings.text(struct.unpack_from("<I", content, at + 20)[0])
            if name in wanted:
                yield name, _attributes(content[at : at + size], header, strings, numbers)
        at += size


def _attributes(chunk: bytes, header: int, strings: _Strings, numbers: tuple[int, ...]) -> Mapping[str, str]:
    start, size, count = struct.unpack_from("<HHH", chunk, 24)
    content = chunk[header + start : header + start + count * size]
    if size != _ATTRIBUTE.size or len(content) != count * size:
        raise XmlError("an element has attributes outside it")
    spend_steps(count, READING)
    attributes = dict[str, str]()
    for key, raw, kind, data in _ATTRIBUTE.iter_unpack(content):
        name = _NAMES.get(numbers[key], "") if key < len(numbers) else ""
        if raw != _NONE or kind == _STRING:
            value = strings.text(raw if raw != _NONE else data)
        else:
            value = str(bool(data)).lower() if kind == _BOOLEAN else str(data)
        attributes.setdefault(name or strings.text(key), value)
    return attributes


class _Strings:
    """A pool of strings. Each string is decoded when it is first used."""

    def __init__(self, chunk: bytes) -> None:
        self._chunk = chunk
        self._known: dict[int, str] = {}
        self._count, self._flags, self._start = (0, 0, 0)
        if chunk:
            self._count, self._flags, self._start = struct.unpack_from("<I4xII", chunk, 8)

    def text(self, index: int) -> str:
        if index not in self._known:
            self._known[index] = self._decoded(index) if index < self._count else ""
        return self._known[index]

    def _decoded(self, index: int) -> str:
        chunk, header = self._chunk, struct.unpack_from("<H", self._chunk, 2)[0]
        at = self._start + struct.unpack_from("<I", chunk, header + 4 * index)[0]
        if self._flags & _UTF8:
            at = _length(chunk, at, "B")[1]
            length, at = _length(chunk, at, "B")
            encoding = "utf-8"
        else:
            length, at = _length(chunk, at, "H")
            length, encoding = 2 * length, "utf-16-le"
        if length > 2 * _LONGEST_STRING:
            return ""
        # Strings may share bytes, so a small file can have many long strings.
        spend_steps(length // _BYTES_OF_TEXT_IN_A_STEP, READING)
        return chunk[at : at + length].decode(encoding, "replace")


def _length(chunk: bytes, at: int, unit: str) -> tuple[int, int]:
    """Return a length and the position after it. A length takes one unit, or two if the first has its highest bit set."""
    size = struct.calcsize(unit)
    high = 1 << (8 * size - 1)
    first = struct.unpack_from(f"<{unit}", chunk, at)[0]
    if not first & high:
        return first, at + size
    return ((first & (high - 1)) << (8 * size)) | struct.unpack_from(f"<{unit}", chunk, at + size)[0], at + 2 * size


_APPLICATION, _LIBRARY, _SDK, _ROOT = "application", "uses-native-library", "uses-sdk", "manifest"
_WANTED = frozenset({_APPLICATION, _LIBRARY, _SDK, _ROOT})
_DEPTH = 3
"""The depth of ``uses-native-library``, counted from the root element as 1."""
_BYTES_IN_A_STEP = 8
"""Number of bytes of XML that are parsed in a step. The smallest element has four bytes."""


@dataclass(frozen=True, slots=True)
class DeclaredLibrary(Declared):
    """A library of the phone that the application declares (``uses-native-library``).

    If it is required, the application cannot be installed on a phone without this library.
    """

    name: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of a manifest that decide which libraries of the phone the application can load. None if a part is missing."""

    package: str = ""
    min_sdk: int | None = None
    target_sdk: int | None = None
    extracts_libraries: bool | None = None
    """``extractNativeLibs``."""
    libraries: tuple[DeclaredLibrary, ...] = ()


def read_manifest(content: bytes) -> Manifest:
    """Read a manifest in any of its three forms. Raises XmlError."""
    single = dict[str, Mapping[str, str]]()
    libraries = dict[str, bool]()
    for name, attributes in _manifest_elements(content):
        if name == _LIBRARY:
            libraries.setdefault(attributes.get("name", ""), _truth(attributes.get("required")) is not False)
        else:
            single.setdefault(name, attributes)
    if _ROOT not in single:
        raise XmlError(f"it has no element {_ROOT}")
    sdk = single.get(_SDK, {})
    return Manifest(
        single[_ROOT].get("package", ""),
        _number(sdk.get("minSdkVersion")),
        _number(sdk.get("targetSdkVersion")),
        _truth(single.get(_APPLICATION, {}).get("extractNativeLibs")),
        tuple([DeclaredLibrary(name, is_required) for name, is_required in libraries.items() if name]),
    )


def merged(manifests: Sequence[Manifest]) -> Manifest:
    """Return the first manifest with the libraries of all modules."""
    libraries = {library.name: library for manifest in reversed(manifests) for library in manifest.libraries}
    first = manifests[0]
    return Manifest(first.package, first.min_sdk, first.target_sdk, first.extracts_libraries, tuple(libraries.values()))


def _manifest_elements(content: bytes) -> Iterator[Element]:
    if is_binary_xml(content):
        return elements(content, _WANTED)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return iter(_of_text(content, _WANTED))
    return _of_protobuf(content)


def _of_text(content: bytes, wanted: Collection[str]) -> list[Element]:
    own: list[Element] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name in wanted:
            own.append((name, {key.rpartition("}")[2]: value for key, value in attributes.items()}))

    def refuse(*_: object) -> None:
        raise XmlError("it declares entities")

    spend_steps(len(content) // _BYTES_IN_A_STEP, READING)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise XmlError(f"it is damaged: {error}") from error
    return own


def _of_protobuf(content: bytes) -> Iterator[Element]:
    try:
        yield from _of_node(ProtobufMessage(content), 1)
    except ProtobufError as error:
        raise XmlError("it is neither XML nor a protocol buffer") from error


def _of_node(node: ProtobufMessage, depth: int) -> Iterator[Element]:
    element = node.message(1)
    if element is None:
        return
    if (name := element.text(3)) in _WANTED:
        yield name, {attribute.text(2): attribute.text(3) for attribute in element.messages(4)}
    if depth < _DEPTH:
        for child in element.messages(5):
            yield from _of_node(child, depth + 1)


def _truth(text: str | None) -> bool | None:
    return None if text is None else text == "true"


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None
