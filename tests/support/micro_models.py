"""Models that TensorFlow Lite Micro takes, lacks operators of, or refuses while allocating or running."""

from __future__ import annotations

from fixtures.builder import ModelBuilder


def single(op, inputs, outputs, options=None, custom=None, version=1, custom_options=None):
    """Return a model of one node. Operands are (type, shape) or (type, shape, fields); those with data are constants."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    indices = []
    for position, (kind, shape, *fields) in enumerate(inputs):
        arguments = fields[0] if fields else {}
        make = graph.tensor if "data" in arguments else graph.input
        indices.append(make(f"in{position}", kind, shape, **arguments))
    results = [
        graph.tensor(f"out{position}", kind, shape, **(fields[0] if fields else {}))
        for position, (kind, shape, *fields) in enumerate(outputs)
    ]
    graph.node(op, indices, results, version, options, custom=custom, custom_options=custom_options)
    graph.outputs(*results)
    return builder


def chain(*ops, kind="FLOAT32", shape=(1, 4)):
    """Return a model of operators of one operand, one after another."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", kind, shape)
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", kind, shape)
        graph.node(op, [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    return builder


def hybrid():
    """Return a FULLY_CONNECTED with float activations and int8 weights, as dynamic-range quantization writes it."""
    weights = {"data": [1] * 16, "scale": 0.5, "zero_point": 0}
    return single("FULLY_CONNECTED", [("FLOAT32", [1, 4]), ("INT8", [4, 4], weights)], [("FLOAT32", [1, 4])], {})


def nested_calls(levels, kind="FLOAT32"):
    """Return a model in which each subgraph calls the next subgraph twice, with both branches of an IF.

    The result of the subgraph at a level has the name ``y`` and the number of the level.
    """
    builder = ModelBuilder()
    for level in range(levels + 1):
        graph = builder.subgraph(f"level {level}")
        source, result = graph.input(f"x{level}", kind, [1, 4]), graph.tensor(f"y{level}", kind, [1, 4])
        if level < levels:
            condition = graph.tensor("condition", "BOOL", [1], data=[True])
            options = {"then_subgraph_index": level + 1, "else_subgraph_index": level + 1}
            graph.node("IF", [condition, source], [result], options=options)
        else:
            graph.node("RELU", [source], [result])
        graph.outputs(result)
    return builder
