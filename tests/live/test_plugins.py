"""Real plugins, where what they need is installed: their decisions about generated models are the simulation's."""

from __future__ import annotations

import random

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.live.comparison import compare_live
from delegate_sim.live.engines import find_engine
from tests.delegates.npu.models import chain, with_composites

_OPS = ("RELU", "TANH", "NEG", "ABS", "ELU", "CEIL", "EXP", "RELU6", "SQRT", "ADD")
_NAMES = ("odml.rms_norm", "odml.npu_call", "odml.cpu_call", "other")
_MODELS = 100


def _models():
    source = random.Random(1)
    for number in range(_MODELS):
        ops = source.choices(_OPS, k=source.randint(1, 12))
        if number % 2:
            yield chain(ops, source.choice(("FLOAT32", "INT32")))
        else:
            parts = [op for op in ops if op != "ADD"] or ["RELU"]
            parts.insert(source.randint(0, len(parts)), (source.choice(_NAMES), 1, b""))
            yield with_composites(parts, [source.choices(_OPS[:-1], k=source.randint(1, 4))])


@pytest.mark.parametrize("name", ["npu-google", "npu-intel", "npu-mediatek", "npu-samsung"])
@pytest.mark.parametrize("options", [{}, {"partition_strategy": "weakly_connected"}], ids=["default", "weakly connected"])
def test_the_real_plugin_decides_as_simulated(name, options):
    engine = find_engine(find_delegate(name))
    if not engine.is_ready:
        pytest.skip(f"{name} cannot be run here: it lacks {engine.lacks}")
    for number, builder in enumerate(_models()):
        model = delegate_sim.load(builder.bytes())
        found = compare_live(engine, model, delegate_sim.analyze(model, name, options).runs[0])
        if not found.is_run:
            pytest.skip(f"{name}: {found.end}")
        assert found.is_equal, (number, found.differences)
