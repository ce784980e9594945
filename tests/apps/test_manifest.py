from __future__ import annotations

import struct
from contextlib import nullcontext

import pytest

from delegate_sim.apps.manifest import DeclaredLibrary, Manifest, XmlError, read_manifest
from delegate_sim.errors import LimitError
from delegate_sim.foundation.work_budget import work_budget
from fixtures.bundles import binary_xml, manifest, protobuf_xml, text_xml

DECLARED = ("libOpenCL.so", "libcdsprpc.so")
WHOLE = Manifest("org.example.app", 24, 35, True, tuple([DeclaredLibrary(name, False) for name in DECLARED]))


def utf16(elements):
    return binary_xml(elements, utf8=False)


def nameless(elements):
    return binary_xml(elements, has_names=False)


@pytest.mark.parametrize("written", [binary_xml, utf16, nameless, protobuf_xml, text_xml])
def test_each_form_of_a_manifest_says_the_same(written):
    assert read_manifest(written(manifest(DECLARED))) == WHOLE


@pytest.mark.parametrize("written", [binary_xml, protobuf_xml, text_xml])
@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        ([("manifest", {})], Manifest()),
        ([("manifest", {}), ("application", {"extractNativeLibs": False})], Manifest(extracts_libraries=False)),
        ([("manifest", {}), ("uses-sdk", {"targetSdkVersion": 30})], Manifest(target_sdk=30)),
        # A preview of Android is a name and not a number.
        ([("manifest", {}), ("uses-sdk", {"targetSdkVersion": "Baklava"})], Manifest()),
        (
            [("manifest", {}), ("application", {}), ("uses-native-library", {"name": "libx.so"})],
            Manifest(libraries=(DeclaredLibrary("libx.so", True),)),
        ),
        (
            [("manifest", {}), ("application", {}), *[("uses-native-library", {"name": "libx.so"})] * 2],
            Manifest(libraries=(DeclaredLibrary("libx.so", True),)),
        ),
        ([("manifest", {}), ("application", {}), ("uses-native-library", {})], Manifest()),
    ],
)
def test_parts_of_a_manifest(written, elements, expected):
    assert read_manifest(written(elements)) == expected


def test_an_element_elsewhere_in_an_app_bundle_is_not_read():
    """Only the children of the application declare libraries."""
    nested = protobuf_xml([("manifest", {}), ("application", {}), ("uses-native-library", {"name": "libx.so"})])
    deeper = b"\x0a" + bytes([len(nested) + 2]) + b"\x2a" + bytes([len(nested)]) + nested
    assert read_manifest(deeper) == Manifest()


def broken(position, value):
    content = bytearray(binary_xml(manifest(DECLARED)))
    struct.pack_into("<I", content, position, value)
    return bytes(content)


POOL = 8
"""The position of the string pool."""


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x03\x00\x08", id="cut"),
        pytest.param(broken(POOL + 4, 0), id="a part without a size"),
        pytest.param(broken(POOL + 4, 1 << 31), id="a part of more bytes than there are"),
        pytest.param(binary_xml([("resources", {})]), id="another document"),
        pytest.param(broken(POOL + 28 + 4 * 5, 1 << 31), id="the name of an element outside the pool"),
        pytest.param(b"\xff\xff\xff", id="no protocol buffer"),
        pytest.param(b"<manifest>", id="open element"),
        pytest.param(b'<!DOCTYPE m [<!ENTITY a "b">]><manifest/>', id="entities"),
    ],
)
def test_damaged_manifests(content):
    with pytest.raises(XmlError):
        read_manifest(content)


def test_attributes_outside_their_element():
    content = bytearray(binary_xml([("manifest", {"package": "a"})]))
    at = content.index(struct.pack("<HH", 20, 20), 100)
    for position, value in ((at + 4, 60_000), (at + 2, 0)):
        changed = bytearray(content)
        struct.pack_into("<H", changed, position, value)
        with pytest.raises(XmlError):
            read_manifest(bytes(changed))


def test_long_strings_are_left_out():
    assert read_manifest(binary_xml([("manifest", {"package": "a" * 5_000})])) == Manifest()
    assert read_manifest(binary_xml([("manifest", {"package": "a" * 900})])).package == "a" * 900


@pytest.mark.parametrize("written", [binary_xml, text_xml])
def test_many_long_strings_take_too_much_work(written, monkeypatch):
    content = written([("manifest", {"package": "a", **{f"{'k' * 900}{number}": "v" * 900 for number in range(40)}})])
    for steps, is_enough in ((100_000, True), (1_000, False)):
        monkeypatch.setattr("delegate_sim.foundation.work_budget._MOST_STEPS", steps)
        with work_budget(is_new=True), nullcontext() if is_enough else pytest.raises(LimitError):
            assert read_manifest(content).package == "a"
