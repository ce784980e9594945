"""Sections of .litertlm files."""

from __future__ import annotations

import pytest

from delegate_sim.bundles.members import models_in
from delegate_sim.errors import ModelError
from delegate_sim.model.reader import load
from fixtures.bundles import litertlm_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD", "ROUND"]).bytes()


def test_sections_of_a_litertlm_file(saved):
    sections = [(5, None, b"metadata"), (3, "tf_lite_prefill_decode", MODEL), (3, None, MODEL), (4, None, b"tokenizer")]
    path = saved("llm.litertlm", litertlm_bytes(sections))
    assert models_in(path) == ["llm.litertlm!/tf_lite_prefill_decode", "llm.litertlm!/section-2"]
    assert load(models_in(path)[0]).size == len(MODEL)


def test_sections_of_one_name_are_told_apart(saved):
    path = saved("llm.litertlm", litertlm_bytes([(3, "decoder", MODEL), (3, "decoder", MODEL)]))
    assert models_in(path) == ["llm.litertlm!/decoder", "llm.litertlm!/decoder-1"]


def test_a_version_of_litertlm_that_is_not_known(saved):
    with pytest.raises(ModelError, match=r"llm\.litertlm: has version 2 of the LiteRT-LM format; only version 1 is known"):
        load(saved("llm.litertlm", litertlm_bytes([(3, None, MODEL)], major=2)))
