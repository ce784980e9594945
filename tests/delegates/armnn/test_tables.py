"""The tables of demands: their rows, and the values that their templates name."""

from __future__ import annotations

import json
import string
from importlib.resources import files

import pytest

from delegate_sim.delegates.armnn import builds, compute_library, rules, steps
from delegate_sim.delegates.armnn.compute_library import CPU_ACC
from delegate_sim.delegates.armnn.demands import LayerDemand, layers_of
from delegate_sim.delegates.armnn.rules import RULES
from delegate_sim.delegates.armnn.rules.checks import PROBLEMS
from delegate_sim.delegates.armnn.rules.questions import QUESTIONS
from delegate_sim.delegates.armnn.steps import BACKENDS, CPU_REF, Layer
from delegate_sim.delegates.armnn.tensors import Info, Query

MODULES = {"reference": steps, "compute_library": compute_library, "workloads": builds}
ROW = {"refuses", "kind", "needed", "found", "says", "hint"}
CHECK = ROW | {"in", "line", "type", "of", "ranks", "not_half", "shape", "unary", "results", "each"}
CHECK |= {"same_type", "same_rank", "same_size", "same_space"}
STEP = ROW | {"inputs", "inputs_at_least", "outputs", "reads", "takes", "stored", "vectors", "fused", "lstm_weights"}
STEP |= {"layer", "word", "at", "line", "asks", "of", "function"}
FLOATS, BYTES = Info("FLOAT32", (1, 4)), Info("INT8", (1, 4), 0.5)
TENSORS = {"input", "second", "output", "weights", "bias", "problem"}
VALUES = {
    "activation": {"function"},
    "sqrt": {"function"},
    "concat": {"axis"},
    "convolution_3d": {"dilation_d", "dilation_h", "dilation_w"},
    "depth_to_space": {"block"},
    "pooling": {"window_h", "window_w"},
    "tile": {"multiples"},
    "transpose": {"permutation"},
}
"""The values that templates of a layer may name."""


def roots(*templates):
    """The first names of all placeholders."""
    fields = [field for template in templates for _, field, _, _ in string.Formatter().parse(template) if field]
    return {field.split(".")[0].split("[")[0] for field in fields}


def table_of(package, name):
    return json.loads(files(package).joinpath(f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", MODULES)
def test_a_table_has_no_unknown_keys_and_names_all_functions(name):
    rows = [row for entry in table_of(steps.__package__, name)["layers"] for row in entry["checks"]]
    assert set().union(*rows) <= CHECK
    assert {row[key] for row in rows for key in ("refuses", "shape") if key in row} == set(MODULES[name].FUNCTIONS)


def test_the_table_of_operators_has_no_unknown_keys_and_names_all_functions():
    rows = [row for entry in table_of(rules.__name__, "operators") for row in entry["steps"]]
    assert set().union(*rows) <= STEP
    assert {row["refuses"] for row in rows if "refuses" in row} == set(PROBLEMS)
    assert {row["asks"] for row in rows if "asks" in row} == set(QUESTIONS)


@pytest.mark.parametrize("layers", [CPU_REF.layers, CPU_ACC.layers, builds.LAYERS], ids=["CpuRef", "CpuAcc", "workloads"])
def test_templates_name_tensors_and_values_of_the_layer(layers):
    unknown = {
        (layer, name)
        for layer, demands in layers.items()
        for demand in demands
        for name in roots(demand.found, demand.says) - TENSORS - VALUES.get(layer, set())
    }
    assert unknown == set()


def test_templates_of_the_delegate_name_parts_of_a_node():
    steps = [step for rule in RULES.rules.values() for step in rule.visit.steps if isinstance(step, LayerDemand)]
    assert len(steps) > 100
    assert set().union(*[roots(step.found, step.says) for step in steps]) <= {"node", "op", "options", "place", "problem"}


def test_each_layer_of_an_operator_is_known_to_a_backend():
    layers = {step.name for rule in RULES.rules.values() for step in rule.visit.steps if isinstance(step, Layer)}
    assert {layer for layer in layers if not any(layer in backend.layers for backend in BACKENDS.values())} == set()


def found(rows, call, functions=None, **entry):
    """The descriptions and messages of the demands of a table with one layer."""
    table = {"sets": {"WHOLE": ["INT8", "INT32"]}, "layers": [{"layers": {"relu": "Relu: "}, "checks": rows, **entry}]}
    demands = layers_of(table, functions or {})["relu"]
    refusals = [demand.refusal(call) for demand in demands]
    return [(refusal.found, refusal.message) for refusal in refusals if refusal]


def test_a_row_about_types():
    call = Query((FLOATS,), (BYTES,))
    assert found([{"type": ["WHOLE"], "says": "no"}], call) == [("input 0 is FLOAT32", "Relu: no")]
    assert found([{"type": ["WHOLE"], "of": "output", "says": "no"}], call) == []
    unary = [{"unary": ["FLOAT32"], "says": ["first", "second", "third"]}]
    assert [said for _, said in found(unary, call)] == ["Relu: second", "Relu: third"]


def test_a_row_about_several_tensors():
    call = Query((FLOATS,), (FLOATS,), values={"State": BYTES})
    rows = [{"each": ["State", "Other"], "same_type": ["input", "*"], "says": "* differs"}]
    assert found(rows, call) == [("input 0 of type FLOAT32 and State of type INT8", "Relu: State differs")]


def test_a_row_that_names_a_problem():
    row = {"refuses": "channels", "kind": "shape", "needed": "channels", "found": "{problem} {input.rank}", "says": "{axis}"}
    call = Query((FLOATS,), (FLOATS,), values={"axis": 3})
    assert found([row], call, {"channels": lambda _: 0}) == [("0 2", "Relu: 3")]
    assert found([row], call, {"channels": lambda _: False}) == found([row], call, {"channels": lambda _: None}) == []
    with pytest.raises(KeyError):
        found([row], call)


def test_a_line_of_the_library():
    rows = [{"line": 7, "same_space": ["input", "output"], "says": "no"}]
    call = Query((BYTES,), (BYTES._replace(zero_point=3),))
    assert found(rows, call, **{"in": "a.cpp:validate"}) == [
        ("input 0 of scale and zero point 0.5 and 0 and output of scale and zero point 0.5 and 3", "in validate src/a.cpp:7: no")
    ]
