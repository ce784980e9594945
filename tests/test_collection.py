"""Garbage collection is held while a model is handled, and only then."""

from __future__ import annotations

import gc

import pytest

from delegate_sim.collection import uncollected


@pytest.fixture(autouse=True)
def collecting():
    yield
    gc.enable()


def test_collection_is_held_and_goes_on_afterwards():
    assert uncollected(gc.isenabled)() is False
    assert gc.isenabled()


def test_collection_goes_on_after_an_error():
    with pytest.raises(ZeroDivisionError):
        uncollected(lambda: 1 / 0)()
    assert gc.isenabled()


def test_collection_that_the_caller_holds_stays_held():
    gc.disable()
    assert uncollected(gc.isenabled)() is False
    assert not gc.isenabled()
