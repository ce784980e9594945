"""The manifest of an application: binary XML in an APK, a protocol buffer in an app bundle (AAB), XML in a library (AAR).

Source: ``tools/aapt2/Resources.proto`` of platform/frameworks/base (``XmlNode``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.parsers import expat

from ..bundles.bundle_error import READING
from ..foundation.columns import Declared
from ..foundation.work_budget import spend_steps
from ..llm.sections import ProtobufError, ProtobufMessage
from .binary_xml import Element, XmlError, elements, is_binary_xml

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
    for name, attributes in _elements(content):
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


def _elements(content: bytes) -> Iterator[Element]:
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
