"""Reading the options of custom operators."""

from __future__ import annotations

import tracemalloc

import pytest
from flatbuffers import flexbuffers

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.model.precompiled import FlexbufferMap, custom_options
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


def test_long_options_are_not_copied():
    """A file decides how long options are, and how many nodes have the same options."""
    size = 4 << 20
    content = flexbuffers.Dumps({"bytes": bytes(size), "sizes": [1, 2], "text": "a" * 300})
    tracemalloc.start()
    options = FlexbufferMap(content)
    assert (options.integers("sizes"), options.text("text"), options.integer("bytes")) == ([1, 2], "a" * 300, None)
    assert not options.has("text" * 200)
    assert tracemalloc.get_traced_memory()[1] < size // 16
    tracemalloc.stop()


def test_a_key_without_an_end_is_not_searched_for_it():
    content = flexbuffers.Dumps({"a": 1, "b" * 1000: 2, "c": 3})
    options = FlexbufferMap(content)
    assert [options.integer(key) for key in ("a", "c", "b" * 200)] == [1, 3, None]


@pytest.mark.parametrize(("value", "read"), [("a" * 3000, FlexbufferMap.text), ([1, 2] * 20, FlexbufferMap.integers)])
def test_long_values_cost_steps(monkeypatch, value, read):
    options = FlexbufferMap(flexbuffers.Dumps({"key": value}))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 50)
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading the options of custom operators"):
        [read(options, "key") for _ in range(5)]
