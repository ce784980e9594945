"""Sources that are opened before they are read: bytes, paths, addresses and views."""

from __future__ import annotations

import pytest

from delegate_sim.bundles.opening import GIVEN_BYTES, NamedBytes, open_source
from delegate_sim.errors import ModelError
from fixtures.bundles import zip_bytes


@pytest.mark.parametrize("content", [b"abc", bytearray(b"abc"), memoryview(b"a-b-c-")[::2], NamedBytes(memoryview(b"abc"))])
def test_given_bytes_have_a_name_and_no_path(content):
    opened = open_source(content)
    assert (bytes(opened.on_this_computer), opened.name, opened.path) == (b"abc", GIVEN_BYTES, None)


def test_a_file_and_a_member_have_their_path_as_name(saved):
    path = saved("a.zip", zip_bytes({"x": b"abc"}))
    assert open_source(path).path == path
    member = open_source(f"{path}!/x")
    assert (bytes(member.on_this_computer), member.name) == (b"abc", f"{path}!/x")


@pytest.mark.parametrize("name", ["missing", "a.zip!/y", ".", "a\0b"])
def test_a_source_that_cannot_be_opened_is_named(saved, name):
    saved("a.zip", zip_bytes({"x": b"abc"}))
    with pytest.raises(ModelError, match=r"^(missing|a\.zip!/y|\.|a\\x00b): "):
        open_source(name)
