"""The NPU that a program names."""

from __future__ import annotations

import struct

import pytest

import delegate_sim
from delegate_sim.model.ethosu_programs import accelerators
from delegate_sim.model.precompiled import compiled_elsewhere, compiled_for
from tests.support.ethosu_programs import (
    DUMP,
    NOTHING,
    READ,
    U55_128,
    U55_256,
    U65_256,
    U65_512,
    U85_2048,
    compiled_network,
    program,
)


def names(*programs):
    return accelerators(delegate_sim.load(compiled_network(*programs).bytes()))


@pytest.mark.parametrize(
    ("configuration", "name"),
    [
        (U55_128, "ethos-u55-128"),
        (U55_256, "ethos-u55-256"),
        (U65_256, "ethos-u65-256"),
        (U65_512, "ethos-u65-512"),
        (U85_2048, "ethos-u85-2048"),
    ],
)
def test_the_configuration_names_the_npu(configuration, name):
    assert names(program(configuration)) == (name,)
    assert names(program(configuration, (NOTHING, READ, DUMP))) == (name,)


def test_each_npu_is_named_once():
    assert names(program(U55_128), program(U65_256), program(U55_128)) == ("ethos-u55-128", "ethos-u65-256")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"COP",
        b"COP1",
        program(U55_128)[:8],
        program(U55_128)[:11],
        b"COP2" + program(U55_128)[4:],
        program(0x30001807),  # an unknown product
        program(0x180F),  # 32,768 multiply-adds in a cycle
        program(U55_128, [NOTHING] * 16),
        program(U55_128, [0x9]),
        b"COP1" + struct.pack("<2I", 0x20002, 0x100001),
    ],
)
def test_a_program_that_does_not_name_a_known_npu(content):
    assert names(content) == ()


def test_sentences_name_the_npu():
    model = delegate_sim.load(compiled_network(program(U55_128), program(U65_256)).bytes())
    assert compiled_elsewhere(model) == "Arm's Ethos-U (ethos-u55-128 and ethos-u65-256)"
    assert "compiled for Arm's Ethos-U (ethos-u55-128 and ethos-u65-256): 2 of its 2 nodes" in next(compiled_for(model))
