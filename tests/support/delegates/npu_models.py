"""Models with what compiler plugins look at: composites, types with quantization, compiled code."""

from __future__ import annotations

from flatbuffers import flexbuffers

import delegate_sim
from fixtures.builder import ModelBuilder

SHAPE = (1, 4)


def chain(ops, kind="FLOAT32", **arguments):
    """A subgraph of nodes one after the other; the operands of ADD are the same tensor twice."""
    builder = ModelBuilder()
    add_chain(builder.subgraph("main"), ops, kind, **arguments)
    return builder


def add_chain(graph, ops, kind="FLOAT32", **arguments):
    tensor = graph.input("in", kind, SHAPE, **arguments)
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", kind, SHAPE, **arguments)
        graph.node(op, (tensor, tensor) if op == "ADD" else (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)


def attributes(**values):
    builder = flexbuffers.Builder()
    builder.MapFromElements(values)
    return bytes(builder.Finish())


def with_composites(parts, bodies, *, kinds=("FLOAT32", "FLOAT32")):
    """A main subgraph whose parts are operators, or (name, body, attributes) of composites; bodies are lists of operators."""
    builder = ModelBuilder()
    main = builder.subgraph("main")
    tensor = main.input("in", kinds[0], SHAPE)
    for number, part in enumerate(parts):
        result = main.tensor(f"m{number}", kinds[0], SHAPE)
        if isinstance(part, str):
            main.node(part, (tensor,), (result,))
        else:
            name, body, content = part
            options = {"name": name, "decomposition_subgraph_index": body, "composite_attributes": list(content)}
            main.node("STABLEHLO_COMPOSITE", (tensor,), (result,), options=options)
        tensor = result
    main.outputs(tensor)
    for number, body in enumerate(bodies, 1):
        graph = builder.subgraph(f"body{number}")
        inner = graph.input("in", kinds[1], SHAPE)
        for position, op in enumerate(body):
            result = graph.tensor(f"b{number}_{position}", kinds[1], SHAPE)
            if isinstance(op, str):
                graph.node(op, (inner,), (result,))
            else:
                options = {"name": op[0], "decomposition_subgraph_index": op[1]}
                graph.node("STABLEHLO_COMPOSITE", (inner,), (result,), options=options)
            inner = result
        graph.outputs(inner)
    return builder


def compiled(manufacturer="Google", soc="Tensor_G5"):
    """A model that a plugin compiled: a node of compiled code between two others, and a stamp."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("in", "FLOAT32", SHAPE), *[graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(3)]]
    graph.node("RELU", tensors[:1], tensors[1:2])
    code = attributes(bytecode_size=1234, bytecode_offset=64, name="Partition_0")
    graph.node("CUSTOM", tensors[1:2], tensors[2:3], custom="DISPATCH_OP", custom_options=code)
    graph.node("RELU", tensors[2:3], tensors[3:4])
    graph.outputs(tensors[3])
    builder.metadata("LiteRtStamp", manufacturer.encode().ljust(125, b"\0") + soc.encode().ljust(125, b"\0"))
    return builder


def run(builder, name, **options):
    """The one run of the report."""
    return delegate_sim.analyze(builder.bytes(), name, options, defaults="api").to_dict()["runs"][0]


def selected(entry, subgraph=0):
    return [node["index"] for node in entry["subgraphs"][subgraph]["nodes"] if node["delegated"]]


def lines(entry):
    return [line for line in entry["log_lines"] if not line.startswith(("op type", "unsupported"))]


def groups(entry, subgraph=0):
    return [[tuple(place) for place in group] for group in entry["subgraphs"][subgraph]["groups"]]
