"""Reading the options of custom operators."""

from __future__ import annotations

import pytest
from flatbuffers import flexbuffers

from delegate_sim.model.flexbuffer import FlexbufferMap, custom_options
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


def test_integer():
    options = FlexbufferMap(flexbuffers.Dumps({"size": 300, "negative": -7, "flag": True, "fraction": 2.75}))
    assert [options.integer(key) for key in ("size", "negative", "flag", "fraction")] == [300, -7, 1, 2]


def test_absent_key():
    assert FlexbufferMap(flexbuffers.Dumps({"size": 300})).integer("stride") is None


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff" * 9, flexbuffers.Dumps([1, 2]), flexbuffers.Dumps({"size": 3})[1:-1]])
def test_what_is_no_map_reads_as_empty(content):
    assert FlexbufferMap(content).integer("size") is None


@pytest.mark.parametrize("value", ["text", None, {}])
def test_what_is_no_number(value):
    assert FlexbufferMap(flexbuffers.Dumps({"size": value})).integer("size") is None


def test_no_damage_makes_reading_raise():
    content = flexbuffers.Dumps({"size": 300, "name": "spectrogram", "sizes": [1, 2, 3]})
    for position in range(len(content)):
        for byte in (0, 1, 0x7F, 0xFF):
            damaged = bytearray(content)
            damaged[position] = byte
            FlexbufferMap(bytes(damaged)).integer("size")


def test_options_of_a_node():
    builder = ModelBuilder()
    main = builder.subgraph()
    samples = main.input("samples", "FLOAT32", [16, 1])
    result = main.tensor("result", "FLOAT32", [1, 1, 9])
    main.node("CUSTOM", [samples], [result], custom="A", custom_options=flexbuffers.Dumps({"size": 300}))
    main.node("CUSTOM", [samples], [result], custom="B")
    model = load(builder.bytes())
    with_options, without = model.subgraphs[0].nodes
    assert custom_options(model, with_options).integer("size") == 300
    assert custom_options(model, without).integer("size") is None
