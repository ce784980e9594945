"""Numbers of what is alike are given once, whoever asks at the same time."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import delegate_sim
from delegate_sim.graph import classes
from delegate_sim.graph.classes import Classes, classes_of
from delegate_sim.graph.graph import file_graph
from tests.models import chain_model


@pytest.fixture
def model():
    return delegate_sim.load(chain_model(["RELU", "TANH"]).bytes())


class Interrupting(str):
    """Text whose hash lets somebody else go first, as another thread may."""

    __slots__ = ("before",)
    __eq__ = str.__eq__

    def __hash__(self):
        before, self.before = getattr(self, "before", None), None
        if before is not None:
            before()
        return str.__hash__(self)


def test_forms_that_are_numbered_at_the_same_time_differ(model):
    known, (first, second) = Classes(), model.subgraphs[0].nodes
    found = []
    op = Interrupting(first.op)
    op.before = lambda: found.append(known.of_form(model, second))
    assert known.of_form(model, first._replace(op=op)) not in found
    assert len(found) == 1


def test_threads_number_tensors_alike(model):
    """Every thread numbers the same tensors, in an order of its own."""
    known, tensor = Classes(), model.subgraphs[0].tensors[0]
    tensors = [tensor._replace(shape=(size,)) for size in range(400)]

    def numbers(start):
        found = {index: known.of_tensor(model, tensors[index]) for index in (*range(start, 400), *range(start))}
        return [found[index] for index in range(400)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            first, *others = threads.map(numbers, range(0, 400, 50))
    finally:
        sys.setswitchinterval(interval)
    assert len(set(first)) == 400
    assert all(other == first for other in others)


def test_a_model_has_one_set_of_numbers(model, monkeypatch):
    """Somebody else asks for them while they are made."""
    found = []

    def make():
        monkeypatch.setattr(classes, "Classes", Classes)
        found.append(classes_of(model))
        return Classes()

    monkeypatch.setattr(classes, "Classes", make)
    assert classes_of(model) is found[0] is classes_of(model)


def test_what_is_made_of_a_model_again_and_again_begins_anew(model, monkeypatch):
    count = sum(len(subgraph.nodes) for subgraph in model.subgraphs)
    monkeypatch.setattr(classes, "_CROWDED_AT_LEAST", 0)
    kin, made = classes_of(model).kin, model
    for _ in range(20):
        made = classes.derived(made, description="made")
        (first, *_) = made.subgraphs
        different = [node._replace(version=next(kin.numbers)) for node in first.nodes]
        made = classes.derived(made, subgraphs=(first._replace(nodes=tuple(different)), *made.subgraphs[1:]))
        assert len(file_graph(made, made.subgraphs[0]).node_classes) == len(different)
        assert len(classes_of(made).kin.nodes) <= (classes._CROWDED + 2) * count
    assert classes_of(made).kin is not kin
