"""Models as Vela writes them: ``ethos-u`` nodes with programs for an NPU."""

from __future__ import annotations

import struct

from fixtures.builder import ModelBuilder

U55_128, U55_256, U65_256, U65_512, U85_2048 = 0x1807, 0x3008, 0x10003008, 0x10006009, 0x2000261B
"""The configuration words that Vela 5.2 writes."""
CONFIGURE, READ, DUMP, NOTHING, COMMANDS = 0x100001, 0x3, 0x4, 0x5, 0x20002


def program(configuration, before=()):
    """Return the actions of a program, with some actions before the configuration of the NPU."""
    words = (*before, CONFIGURE, configuration, 0x10066001, *[NOTHING] * 3, COMMANDS, 0x130, 0x4030)
    return b"COP1" + struct.pack(f"<{len(words)}I", *words)


def compiled_network(*programs):
    """Return a model with a node for each program, one after the other."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "INT8", (1, 4), scale=0.5, zero_point=0)
    for number, content in enumerate(programs):
        commands = graph.tensor(f"commands {number}", "UINT8", (len(content),), data=list(content))
        result = graph.tensor(f"t{number}", "INT8", (1, 4), scale=0.5, zero_point=0)
        graph.node("CUSTOM", (commands, tensor), (result,), custom="ethos-u", custom_options=b"\1\4\1")
        tensor = result
    graph.outputs(tensor)
    return builder
