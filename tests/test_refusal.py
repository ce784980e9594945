from __future__ import annotations

from dataclasses import replace

from delegate_sim.refusal import NodeIndex, Refusal, node_place


def origin(index):
    return {1: 0, 2: 4}.get(index)


def test_text_around_a_message_keeps_braces_and_values():
    plain = Refusal("code", "shape {4} of {name}")
    assert plain.within("node {1}: ", " {end}").message == "node {1}: shape {4} of {name} {end}"
    valued = Refusal("code", "{found} found", values={"found": "a{b}"})
    assert valued.within("x{y} ").within("before ", " after").message == "before x{y} a{b} found after"


def test_places_have_the_indices_of_the_file():
    refusal = Refusal("code", "failed", node=2).within(node_place(2, "ADD", "node {node} ({op}): "))
    assert refusal.message == "node 2 (ADD): failed"
    mapped = refusal.in_file(origin)
    assert (mapped.message, mapped.node) == ("node 4 (ADD): failed", None)
    assert refusal.in_file(lambda index: index) == refusal
    assert refusal.in_file(origin, {4: "ADD"}.get).message == "node 4 (ADD): failed"
    assert refusal.in_file(origin, {4: "MUL"}.get).message == "node 4 (MUL, converted to ADD): failed"


def test_nodes_that_a_change_added_have_no_index():
    refusal = Refusal("code", "node {reader} reads it", node=None, values={"reader": NodeIndex(7)})
    assert refusal.in_file(origin).message == "node (added) reads it"


def test_a_stage_behind_the_delegate_names_the_node_of_the_file():
    below = Refusal("below", "rejected", node=2)
    refusal = Refusal("code", "addOperation", node=2, below=below)
    assert refusal.text == "node 2: addOperation"
    assert refusal.in_file(origin).text == "node 4: addOperation"
    assert replace(refusal, node=1, below=replace(below, node=1)).in_file(origin).text == "node 0: addOperation"
