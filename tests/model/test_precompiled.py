"""Models that were compiled ahead of time."""

from __future__ import annotations

import delegate_sim
from delegate_sim.model.precompiled import precompiled
from tests.support.delegates.npu_models import chain, compiled, run


def test_the_soc_and_the_code_are_told():
    found = precompiled(delegate_sim.load(compiled().bytes()))
    assert (found.manufacturer, found.soc, found.is_stamped, found.other_nodes) == ("Google", "Tensor_G5", True, 2)
    assert found.code_sizes == (1234,)
    first, second = found.words
    assert "already compiled for Google Tensor_G5: 1 of its 3 nodes run compiled code" in first
    assert "Other targets need the source model" in second


def test_a_stamp_of_another_size_is_none():
    builder = compiled()
    builder.metadata("LiteRtStamp", b"short")
    found = precompiled(delegate_sim.load(builder.bytes()))
    assert (found.is_stamped, found.is_compiled) == (False, True)
    assert "a SoC that the file does not name" in found.words[0]
    assert "names the SoC" not in found.words[1]


def test_names_are_made_safe():
    assert "\x1b" not in "".join(precompiled(delegate_sim.load(compiled(soc="\x1b[1m").bytes())).words)


def test_other_models_have_nothing_to_tell():
    assert precompiled(delegate_sim.load(chain(["RELU"]).bytes())).words == ()


def test_reports_say_so():
    for name in ("npu-google", "nnapi"):
        assert any("already compiled" in warning for warning in run(compiled(), name)["warnings"])
