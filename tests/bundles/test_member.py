"""Bounds on what a member decompresses to."""

from __future__ import annotations

import zipfile

import pytest

from delegate_sim.bundles import member
from delegate_sim.errors import ModelError
from delegate_sim.model.reader import load
from fixtures.bundles import zip_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD", "ROUND"]).bytes()


def test_what_decompresses_without_end_is_refused(saved, monkeypatch):
    monkeypatch.setattr(member, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(member, "_PIECE", 1 << 16)
    path = saved("bomb.zip", zip_bytes({"m.tflite": MODEL[:8] + bytes(1 << 22)}, zipfile.ZIP_DEFLATED))
    with pytest.raises(ModelError, match=r"m\.tflite \(4,.* bytes\) takes up more than 1 MiB when decompressed"):
        load(f"{path}!/m.tflite")


def test_weights_that_shrink_tenfold_are_read(saved, monkeypatch):
    monkeypatch.setattr(member, "_ALWAYS", 1 << 10)
    path = saved("a.zip", zip_bytes({"m.tflite": MODEL + bytes(len(MODEL) * 20)}, zipfile.ZIP_DEFLATED))
    assert load(f"{path}!/m.tflite").size == len(MODEL) * 21
    monkeypatch.setattr(member, "_RATIO", 2)
    with pytest.raises(ModelError, match="when decompressed: unpack it first"):
        load(f"{path}!/m.tflite")
