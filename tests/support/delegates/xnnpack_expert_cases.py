"""Models with mixtures of experts, the custom operator ``moe``."""

from __future__ import annotations

import numpy as np
from flatbuffers import flexbuffers

from fixtures.builder import ModelBuilder

EXPERTS, ACTIVE, MODEL, HIDDEN = 2, 1, 4, 8
SIZES = {"num_experts": EXPERTS, "num_active_experts": ACTIVE, "model_dim": MODEL, "hidden_dim": HIDDEN}
ATTRIBUTES = SIZES | {"weight_type": "fp32"}
NUMPY = {"FLOAT32": "f4", "INT8": "i1", "INT32": "i4", "UINT8": "u1"}


def flexbuffer(attributes):
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in sorted(attributes.items()):
            if value is None:
                builder.Null(name)
            else:
                (builder.String if isinstance(value, str) else builder.Int)(name, value)
    return bytes(builder.Finish())


class Mixtures:
    """A graph of mixtures and other nodes under construction."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.graph = self.builder.subgraph("main")
        self.source = self.graph.input("source", "FLOAT32", [3, MODEL])
        self.top = [self.graph.input("weights", "FLOAT32", [3, ACTIVE]), self.graph.input("indices", "INT32", [3, ACTIVE])]

    def node(self, op, *operands, **arguments):
        result = self.graph.tensor("result", "FLOAT32", [3, MODEL])
        self.graph.node(op, list(operands), [result], **arguments)
        return result

    def constant(self, type, shape):
        return self.graph.tensor("constant", type, shape, np.ones(shape, NUMPY[type]))

    def mixture(self, source, *, attributes=None, constants=None, top=None, drop=0):
        """``constants`` replaces some of the constant operands by a type and a shape, None by one that is computed."""
        attributes = ATTRIBUTES | (attributes or {})
        operands = [source, *(top or self.top)]
        for position, (type, shape) in enumerate(stored(attributes["weight_type"])):
            given = (constants or {}).get(position, (type, shape))
            if given is None:
                operands.append(self.graph.input("computed", type, shape))
            else:
                operands.append(self.constant(*given))
        options = flexbuffer({name: value for name, value in attributes.items() if value != ""})
        return self.node("CUSTOM", *operands[: len(operands) - drop], custom="moe", custom_options=options)

    def finish(self, *outputs):
        self.graph.outputs(*outputs)
        return self.builder.bytes()


def stored(weight_type):
    """The types and shapes of the constant operands."""
    weights = [(HIDDEN * EXPERTS, MODEL), (HIDDEN * EXPERTS, MODEL), (MODEL * EXPERTS, HIDDEN)]
    if weight_type not in ("int8", "int4"):
        return [*[("FLOAT32", shape) for shape in weights], ("FLOAT32", (EXPERTS,))]
    width = 2 if weight_type == "int4" else 1
    found = []
    for rows, columns in weights:
        found += [("INT8", (rows, columns // width)), ("FLOAT32", (rows,))]
    return [*found, ("FLOAT32", (EXPERTS,))]


def one(**arguments):
    model = Mixtures()
    return model.finish(model.node("ABS", model.mixture(model.node("ABS", model.source), **arguments)))


ACCEPTED = {
    "float": one(),
    "int8": one(attributes={"weight_type": "int8"}),
    "int4-packed": one(attributes={"weight_type": "int4"}),
    "int4-in-groups": one(attributes={"weight_type": "int4"}, constants={1: ("FLOAT32", (2 * HIDDEN * EXPERTS,))}),
    "activation": one(attributes={"activation": "gelu_tanh"}),
    "no-activation": one(attributes={"activation": None}),
    "size-of-more-than-32-bits": one(attributes={"hidden_dim": HIDDEN + 2**32}),
}
REFUSED = {
    "no-attribute": (one(attributes={"model_dim": ""}), "is missing attribute model_dim"),
    "null": (one(attributes={"hidden_dim": None}), "is missing attribute hidden_dim"),
    "weight-type": (one(attributes={"weight_type": "fp33"}), "has unsupported weight_type 'fp33'"),
    "other-activation": (one(attributes={"activation": "relu"}), "unsupported activation='relu'"),
    "more-active": (one(attributes={"num_active_experts": 3}), "has invalid dimensions"),
    "no-size": (one(attributes={"model_dim": 0}), "has invalid dimensions"),
    "too-large": (one(attributes={"hidden_dim": 2**30}), "dimensions exceed maximum bounds"),
    "operands": (one(drop=1), "expects 7 inputs and 1 output"),
    "operands-int8": (one(attributes={"weight_type": "int8"}, drop=1), "expects 10 inputs and 1 output"),
    "weights-of-other-type": (one(constants={0: ("INT8", (64,))}), "gate_weight requires fp32 type"),
    "weights-int8": (one(attributes={"weight_type": "int8"}, constants={2: ("FLOAT32", (64,))}), "ff1_weight requires int8 type"),
    "weights-int4": (
        one(attributes={"weight_type": "int4"}, constants={4: ("UINT8", (64,))}),
        "linear_weight requires int4 or int8 type",
    ),
    "computed": (one(constants={1: None}), "ff1_weight (input #4) must be a constant tensor"),
    "count": (one(constants={2: ("FLOAT32", (63,))}), "linear_weight element count 63 does not match expected 64"),
    "scales": (
        one(attributes={"weight_type": "int8"}, constants={1: ("INT32", (16,))}),
        "gate_scale must be a constant fp32 tensor",
    ),
    "scales-int8": (
        one(attributes={"weight_type": "int8"}, constants={5: ("FLOAT32", (9,))}),
        "linear_scale element count 9 does not match rows 8",
    ),
    "scales-int4": (
        one(attributes={"weight_type": "int4"}, constants={3: ("FLOAT32", (17,))}),
        "ff1_scale element count 17 is not a multiple of rows 16",
    ),
    "scales-of-experts": (one(constants={3: ("FLOAT32", (3,))}), "per_expert_scale invalid per_expert_scale tensor"),
}
"""By name: a model whose node 1 is refused, and what the delegate says of it."""


def scattered():
    """Mixtures beside, behind and before other nodes, and nodes of the CPU; partitioning changes their order."""
    model = Mixtures()
    first = model.mixture(model.source)
    beside = model.node("ABS", model.source)
    rounded = model.node("ZEROS_LIKE", beside)
    second = model.mixture(rounded)
    joined = model.node("ADD", first, second)
    third = model.mixture(model.node("ZEROS_LIKE", joined))
    return model.finish(third, model.node("NEG", beside), model.mixture(first))


def wrong_activations():
    model = Mixtures()
    indices = model.graph.input("indices", "FLOAT32", [3, ACTIVE])
    return model.finish(model.mixture(model.source, top=[model.top[0], indices]))
