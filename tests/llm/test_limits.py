"""The limits on what a bundle may hold."""

from __future__ import annotations

import zlib

import pytest

import delegate_sim
from delegate_sim.bundles import litertlm
from delegate_sim.errors import LimitError, ModelError
from delegate_sim.llm import bundle as llm_bundle
from delegate_sim.llm import compiled as llm_compiled
from delegate_sim.llm import sections
from delegate_sim.llm.compiled import compile_for_cpu, first_run
from delegate_sim.llm.contents import read_contents
from delegate_sim.llm.sections import Tokenizer
from fixtures.builder import ModelBuilder
from fixtures.language_models import bundle, decoder
from tests.support.composites import EMPTY_MAP, nested_composites


def test_fields_beyond_the_limit_are_refused(monkeypatch):
    content = b"\x08\x01" * 5
    assert list(sections.fields_of(content))
    monkeypatch.setattr(sections, "_MOST_FIELDS", 4)
    with pytest.raises(sections.ProtobufError, match="fields"):
        list(sections.fields_of(content))


def test_a_long_prompt_is_not_counted(monkeypatch):
    pieces = Tokenizer({"a": 0.0, "b": 0.0})
    assert pieces.count("ab") == 2
    monkeypatch.setattr(sections, "_LONGEST_PROMPT", 1)
    assert pieces.count("ab") is None


def test_a_tokenizer_that_decompresses_to_too_many_bytes(monkeypatch):
    content = (1000).to_bytes(8, "little") + zlib.compress(bytes(1000))
    assert sections.decompresses(content)
    monkeypatch.setattr(sections, "_MOST_BYTES", 100)
    assert not sections.decompresses(content)


def test_a_section_that_is_read_whole_may_not_be_large(monkeypatch, tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(decoder()))
    assert delegate_sim.analyze_bundle(path).outcome == "starts"
    monkeypatch.setattr(llm_bundle, "_MOST_BYTES", 1)
    with pytest.raises(ModelError, match="too large"):
        delegate_sim.analyze_bundle(path)


def test_items_beyond_the_limit_are_left_out(monkeypatch, tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(decoder(), further=[(42, {"name": "first", "other": "second"}, b"abc")]))
    assert "other" in str(read_contents(str(path)).to_dict())
    monkeypatch.setattr(litertlm, "_MOST_ITEMS", 1)
    assert "other" not in str(read_contents(str(path)).to_dict())


def test_composites_that_grow_without_bound_are_refused(monkeypatch):
    compiled = compile_for_cpu("decoder", delegate_sim.load(nested_composites(40, 2)), "engine")
    monkeypatch.setattr(llm_compiled, "_MOST_NODES", 10_000)
    with pytest.raises(LimitError, match="inlining the composites of subgraph 0, and the composites in their bodies"):
        first_run(compiled, 0)


def test_bodies_are_counted_before_they_are_copied(monkeypatch):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    options = {"name": "c", "composite_attributes": EMPTY_MAP, "decomposition_subgraph_index": 1}
    graph.node("STABLEHLO_COMPOSITE", [source], [result], options=options)
    graph.outputs(result)
    body = builder.subgraph("body")
    source, result = body.input("x", "FLOAT32", [1, 4]), body.tensor("y", "FLOAT32", [1, 4])
    body.node("ATAN2", [source, source], [result])
    for _ in range(100):
        body.tensor("unused", "FLOAT32", [1, 4])
    body.outputs(result)
    compiled = compile_for_cpu("decoder", delegate_sim.load(builder.bytes()), "engine")
    monkeypatch.setattr(llm_compiled, "with_inlined_composites", lambda *_: pytest.fail("copies bodies"))
    monkeypatch.setattr(llm_compiled, "_MOST_NODES", 150)
    with pytest.raises(LimitError, match="needs models of more than 150 nodes in total"):
        first_run(compiled, 0)
