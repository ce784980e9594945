"""Models that a release of the runtime does not load: the outcome, the runtime's lines, and what the verdicts are then."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.hypothetical.model_editing import edited
from delegate_sim.model.model import Allocation, OperatorCode
from delegate_sim.model.schema import CUSTOM
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, Release, parse_release
from delegate_sim.runtime import model_loading
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.model_loading import as_read_by, custom_operators, first_loading_after, load_on, loading_warnings
from delegate_sim.runtime.resolver import Loads, loads_type
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder
from fixtures.make import MODELS
from tests.support.diagnoses import target
from tests.support.models import chain_model

REFUSED = (
    "Didn't find op for builtin opcode '{}' version '{}'. An older version of this builtin might be supported. "
    "Are you using an old TFLite binary with a newer model?"
)


def run(builder, release=DEFAULT_RELEASE, delegate="nnapi", **arguments):
    return delegate_sim.analyze(builder.bytes(), delegate, runtime=release, **{"defaults": "api", **arguments}).to_dict()["runs"][
        0
    ]


def typed(kind):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", kind, [4], data=[1, 0, 1, 0] if kind != "INT4" else bytes(2))
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    del weights
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    return builder


@pytest.mark.parametrize("delegate", ["nnapi", "gpu", "xnnpack", "vx"])
def test_a_model_that_does_not_load_is_the_outcome(delegate):
    found = run(chain_model(["RELU", "LOGISTIC 9"]), delegate=delegate)
    assert found["outcome"] == "refused"
    assert found["log_lines"] == [REFUSED.format("LOGISTIC", 9), "Registration failed."]
    refusal = found["refusal"]
    assert (refusal["code"], refusal["subgraph"], refusal["node"]) == ("operator-not-loaded", 0, 1)
    assert "LOGISTIC version 9" in refusal["message"]
    first = found["subgraphs"][0]["nodes"][0]
    assert (first["supported"], first["delegated"]) == (True, False)
    assert [reason["code"] for reason in first["reasons"]] == ["operator-not-loaded"]


def test_benchmark_model_says_that_there_is_no_interpreter():
    found = run(chain_model(["LOGISTIC 9"]), defaults="benchmark")
    assert found["log_lines"][-1] == "Failed to initialize the interpreter"


def test_the_first_operator_in_the_file_is_the_one_that_is_told():
    model = load(chain_model(["RELU 8", "LOGISTIC 9"]).bytes())
    loading = load_on(model, parse_release("litert-2.3"))
    assert [(code.op, code.version) for code in loading.refused] == [("RELU", 8), ("LOGISTIC", 9)]
    assert loading.lines[0] == REFUSED.format("RELU", 8)
    assert "RELU version 8" in loading.message
    assert "LOGISTIC version 9" in loading.message


def test_an_operator_that_no_node_uses_is_refused_too():
    model = load(chain_model(["RELU"]).bytes())
    unused = OperatorCode("ADD", 0, None, 77)
    model = replace(model, operator_codes=(*model.operator_codes, unused))
    found = delegate_sim.analyze(model, "nnapi", defaults="api").to_dict()["runs"][0]
    assert found["outcome"] == "refused"
    assert (found["refusal"]["subgraph"], found["refusal"]["node"]) == (0, None)
    assert found["log_lines"][0] == REFUSED.format("ADD", 77)


def test_an_application_may_register_operators():
    found = run(chain_model(["RELU", "LOGISTIC 9"]), assume_ops_registered=True)
    assert found["outcome"] == "delegated"
    assert any("LOGISTIC" in warning for warning in found["warnings"])


def custom_model(op, before=()):
    """RELU nodes of one subgraph for each number of ``before``, and then a custom operator in the last subgraph."""
    builder = ModelBuilder()
    for number in before:
        graph = builder.subgraph(f"before_{number}")
        last = graph.input("in", "FLOAT32", (1, 4))
        for position in range(number):
            source, last = last, graph.tensor(f"t{position}", "FLOAT32", (1, 4))
            graph.node("RELU", (source,), (last,))
        graph.outputs(last)
    graph = builder.subgraph("last")
    source, result = graph.input("in", "FLOAT32", (1, 4)), graph.tensor("out", "FLOAT32", (1, 4))
    graph.node("CUSTOM", (source,), (result,), custom=op)
    graph.outputs(result)
    return builder


NO_FLEX = (
    "Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter. Make sure you apply/link "
    'the Flex delegate before inference. For the Android, it can be resolved by adding "org.tensorflow:tensorflow-lite-select-tf-'
    'ops" dependency. See instructions: https://www.tensorflow.org/lite/guide/ops_select'
)


@pytest.mark.parametrize(
    ("op", "line"),
    [
        ("MyOp", "Encountered unresolved custom op: MyOp.\nSee instructions: https://www.tensorflow.org/lite/guide/ops_custom "),
        ("FlexErf", NO_FLEX),
    ],
)
def test_a_custom_operator_that_nobody_registers_is_not_prepared(op, line):
    builder = custom_model(op)
    found = run(builder)
    assert (found["outcome"], found["refusal"]["code"], found["refusal"]["node"]) == ("refused", "operator-not-registered", 0)
    assert found["log_lines"] == [line, f"Node number 0 ({op}) failed to prepare."]
    assert load(builder.bytes()).operator_codes[0].builtin_code == CUSTOM


def test_a_custom_operator_of_the_runtime_is_not_assumed_of_the_application():
    found = run(custom_model("TFLite_Detection_PostProcess"))
    assert found["refusal"] is None or found["refusal"]["code"] != "operator-not-registered"
    assert not any("TFLite_Detection_PostProcess: assumed" in warning for warning in found["warnings"])


def test_nobody_registers_anything_unless_told_so():
    delegate, model = find_delegate("nnapi"), load(custom_model("MyOp").bytes())
    options, release = parse_options("nnapi", delegate.options, {}, "benchmark"), parse_release("litert-2.3")
    target = Target(delegate, options, release, "benchmark")
    assert simulate(model, target).outcome == "refused"
    assert simulate(model, target._replace(assume_ops_registered=True)).outcome == "none"


@pytest.mark.parametrize("delegate", ["nnapi", "npu-google"])
def test_an_application_registers_custom_operators(delegate):
    found = run(custom_model("MyOp"), delegate=delegate, assume_ops_registered=True)
    assert found["outcome"] == "none"
    assert any(warning.startswith("custom operator MyOp: ") for warning in found["warnings"])


def test_wheels_of_tensorflow_have_flex():
    assert run(custom_model("FlexErf"), "tf-2.14")["outcome"] == "none"
    assert run(custom_model("MyOp"), "tf-2.14")["outcome"] == "refused"


def test_what_was_delegated_before_a_subgraph_that_cannot_be_prepared_stays_so():
    found = run(custom_model("MyOp", before=(2,)))
    refusal = found["refusal"]
    assert (found["outcome"], refusal["code"], refusal["subgraph"]) == ("delegated", "operator-not-registered", 1)
    assert [subgraph["nodes_delegated"] for subgraph in found["subgraphs"]] == [2, 0]
    assert found["log_lines"][0].startswith("Replacing 2 out of 2 node(s)")
    told = run(custom_model("MyOp", before=(2,)), defaults="benchmark")
    assert told["log_lines"][-1] == "Failed to apply NNAPI delegate."


def test_a_delegate_for_dynamic_tensors_is_asked_first():
    found = run(custom_model("MyOp", before=(1,)), delegate="xnnpack")
    assert (found["outcome"], found["refusal"]) == ("delegated", None), "the first subgraph alone is allocated"
    found = run(custom_model("MyOp"), delegate="xnnpack")
    assert (found["outcome"], found["refusal"]["code"]) == ("none", "operator-not-registered")


def test_litert_registers_stubs_for_its_gpu():
    found = run(custom_model("Resampler"), delegate="mldrift")
    assert found["refusal"] is None or found["refusal"]["code"] != "operator-not-registered"
    assert run(custom_model("MyOp"), delegate="mldrift")["refusal"]["code"] == "operator-not-registered"


@pytest.mark.parametrize(
    ("kind", "loads", "refuses"),
    [
        ("INT4", "tf-2.12", "tf-2.11"),
        ("BFLOAT16", "tf-2.17", "tf-2.16"),
        ("INT2", "litert-2.1.0", "litert-2.0.3"),
        ("UINT4", "litert-2.1.2", "litert-2.1.1"),
        ("FLOAT8_E5M2", "litert-2.1.6", "litert-2.1.5"),
    ],
)
def test_types_of_tensors_that_a_release_does_not_load(kind, loads, refuses):
    model = load(typed("INT4").bytes())
    subgraph = model.subgraphs[0]
    tensors = tuple([one._replace(type=kind, shape=(1,)) if one.type == "INT4" else one for one in subgraph.tensors])
    model = replace(model, subgraphs=(replace(subgraph, tensors=tensors),))
    assert load_on(model, parse_release(loads)).loads is Loads.YES
    loading = load_on(model, parse_release(refuses))
    assert loading.loads is Loads.NO
    assert loading.refused_types == (kind,)
    found = delegate_sim.analyze(model, "nnapi", runtime=refuses, defaults="api").to_dict()["runs"][0]
    assert (found["outcome"], found["refusal"]["code"], found["refusal"]["tensor"]) == ("refused", "tensor-type-not-loaded", 0)


@pytest.mark.parametrize("kind", ["INT8", "INT32", "INT64", "STRING", "UINT8", "FLOAT16"])
def test_constants_of_types_that_are_not_packed_load_everywhere(kind):
    assert loads_type(kind, parse_release("tf-2.10"), is_constant=True) is Loads.YES


def test_the_lines_of_a_type_that_is_refused():
    loading = load_on(load(typed("INT4").bytes()), parse_release("tf-2.10"))
    assert loading.lines == ("Unsupported data type 17 in tensor",)
    # The next release knows the type, and not that its values are packed.
    loading = load_on(load(typed("INT4").bytes()), parse_release("tf-2.11"))
    assert loading.lines == ("Tensor 0 is invalidly specified in schema.",)


def test_the_first_tensor_of_the_first_subgraph_with_such_a_type_is_the_place():
    builder = ModelBuilder()
    for name, kinds in (("main", ["FLOAT32"]), ("body", ["FLOAT32", "INT4", "INT4"]), ("more", ["INT4"])):
        graph = builder.subgraph(name)
        for number, kind in enumerate(kinds):
            graph.tensor(f"{name}{number}", kind, [1])
    found = delegate_sim.analyze(load(builder.bytes()), "nnapi", runtime="tf-2.10", defaults="api").to_dict()["runs"][0][
        "refusal"
    ]
    assert (found["code"], found["subgraph"], found["node"], found["tensor"]) == ("tensor-type-not-loaded", 1, None, 1)


def test_nothing_is_claimed_of_a_release_that_is_not_known():
    model = load(chain_model(["RELU"]).bytes())
    loading = load_on(model, Release("litert", (0, 9)))
    assert loading.loads is Loads.UNKNOWN
    assert [code.op for code in loading.unknown] == ["RELU"]
    assert loading.lines == ()


SCALES = "num_scales must be 1 for per-layer quantization, or 3 for per-axis quantization, but got 2."
PARAMETERS = "Tensor {} has invalid quantization parameters."


@pytest.mark.parametrize(
    ("tensor", "lines"),
    [
        ({"shape": [3], "scale": [1.0, 1.0]}, [SCALES, PARAMETERS]),
        ({"shape": [3], "scale": [1.0] * 3}, []),
        ({"shape": [3], "scale": 1.0}, []),
        ({"shape": [3], "scale": 1.0, "axis": 1}, ["quantized_dimension must be in range [0, 1). Was 1.", PARAMETERS]),
        ({"shape": [], "scale": [1.0, 1.0]}, []),
        ({"shape": [3], "scale": [], "zero_point": []}, []),
        (
            {"shape": [3], "scale": [1.0] * 3, "zero_point": [0]},
            ["QuantizationParam has 1 zero_point values and 3 scale values. Must have same number.", PARAMETERS],
        ),
        (
            {"shape": [3, -1]},
            ["tflite/util.cc BytesRequired number of elements overflowed.", "Tensor {} is invalidly specified in schema."],
        ),
    ],
)
def test_tensors_that_the_file_contradicts_itself_about(tensor, lines):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    index = graph.tensor("odd", "INT8", tensor.pop("shape"), **tensor)
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    found = run(builder)
    if not lines:
        assert found["outcome"] == "delegated"
        return
    assert (found["outcome"], found["refusal"]["code"]) == ("refused", "tensor-not-loaded")
    assert (found["refusal"]["subgraph"], found["refusal"]["tensor"]) == (0, index)
    assert found["log_lines"] == [line.format(index) for line in lines]
    assert run(builder, assume_ops_registered=True)["outcome"] == "refused"


def test_several_tensors_that_are_not_loaded_are_all_named_and_the_first_is_the_place():
    builder = typed("FLOAT32")
    graph = builder.subgraph("more")
    graph.tensor("fine", "FLOAT32", [2])
    graph.tensor("odd", "INT8", [3, -1], scale=[1.0, 1.0], axis=0)
    graph.tensor("none", "FLOAT32", [-1])
    found = run(builder)["refusal"]
    assert (found["subgraph"], found["node"], found["tensor"]) == (1, None, 1)
    assert "tensor 2 of subgraph 1" in found["message"]


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        ({"scale": [1.0] * 3, "zero_point": [0]}, "it has 3 scales and 1 zero points"),
        ({"scale": 1.0, "axis": 1}, "it is quantized along dimension 1, but has rank 1"),
        ({"scale": [1.0, 1.0]}, "it has 2 scales along a dimension of size 3"),
    ],
)
def test_what_is_wrong_with_a_quantization_in_words(tensor, message):
    builder = typed("FLOAT32")
    builder.subgraph("more").tensor("odd", "INT8", [3], **tensor)
    assert run(builder)["refusal"]["message"] == f"tensor 0 of subgraph 1 is not loaded: {message}"


def test_a_string_may_have_any_size():
    builder = typed("FLOAT32")
    builder.subgraph("more").tensor("s", "STRING", [-1])
    assert load_on(load(builder.bytes()), parse_release("litert-2.3")).loads is Loads.YES


def test_a_tensor_that_is_not_loaded_is_the_cause():
    builder = typed("FLOAT32")
    graph = builder.subgraph("more")
    graph.tensor("odd", "FLOAT32", [-1])
    diagnosis = delegate_sim.diagnose(load(builder.bytes()), "nnapi", defaults="api")
    first = diagnosis.findings[0].cause
    assert first.name == "model:tensor-not-loaded"
    assert "[-1]" in first.title
    assert (
        delegate_sim.compare(load(builder.bytes()), load(typed("FLOAT32").bytes()), "nnapi", defaults="api").b.measures.outcome
        != "refused"
    )


COMPOSITE = {"name": "odml.x", "composite_attributes": b"", "decomposition_subgraph_index": 1}


def without(*names):
    return {name: value for name, value in COMPOSITE.items() if name not in names}


def with_parameters(op, options, *, has_bad_tensor=False):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    if has_bad_tensor:
        graph.tensor("bad", "FLOAT32", [-3, 4])
    graph.node(op, [source], [result], options=options)
    graph.outputs(result)
    body = builder.subgraph("body")
    source, result = body.input("x", "FLOAT32", [1, 4]), body.tensor("y", "FLOAT32", [1, 4])
    body.node("ABS", [source], [result])
    body.outputs(result)
    return builder


@pytest.mark.parametrize(
    ("op", "options", "lines"),
    [
        ("STABLEHLO_COMPOSITE", COMPOSITE, None),
        ("STABLEHLO_COMPOSITE", None, ["Could not get 'stablehlo.composite' operation parameters."]),
        ("STABLEHLO_COMPOSITE", without("name"), ["'stablehlo.composite' missing required option 'name'."]),
        (
            "STABLEHLO_COMPOSITE",
            without("composite_attributes"),
            ["'stablehlo.composite' missing required option 'composite_attributes'."],
        ),
        ("STABLEHLO_CASE", None, ["Could not get 'stablehlo.case' operation parameters."]),
        (
            "STABLEHLO_PAD",
            {},
            ["Input array not provided for operation 'stablehlo.pad'.", "Check the 'edge_padding_low' attribute."],
        ),
        (
            "STABLEHLO_REDUCE_WINDOW",
            {},
            ["'window_dimensions' attribute is not optional for 'stablehlo.reduce_window' and cannot be empty."],
        ),
        ("STABLEHLO_GATHER", None, None),
    ],
)
def test_parameters_that_the_runtime_does_not_load(op, options, lines):
    """As ai-edge-litert 2.3.0 does with these models."""
    found = delegate_sim.analyze(with_parameters(op, options).bytes(), "xnnpack", defaults="api").to_dict()["runs"][0]
    code = found["refusal"] and found["refusal"]["code"]
    assert (code == "node-not-loaded") == (lines is not None)
    if lines is not None:
        assert (found["outcome"], found["log_lines"]) == ("refused", lines)
        assert (found["refusal"]["subgraph"], found["refusal"]["node"]) == (0, 0)


def test_subgraphs_are_loaded_one_after_the_other():
    """The runtime ends at the first that has anything wrong, be it a tensor or a node."""
    builder = ModelBuilder()
    for name in ("tensor", "node"):
        graph = builder.subgraph(name)
        source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
        if name == "tensor":
            graph.tensor("bad", "FLOAT32", [-3, 4])
        graph.node("STABLEHLO_COMPOSITE" if name == "node" else "ABS", [source], [result], options={} if name == "node" else None)
        graph.outputs(result)
    loading = load_on(load(builder.bytes()), parse_release("litert-2.3"))
    assert [one.subgraph for one in loading.invalid] == [0]
    assert loading.invalid_node is None


def test_the_tensors_of_a_subgraph_are_loaded_before_its_nodes():
    model = with_parameters("STABLEHLO_COMPOSITE", {}, has_bad_tensor=True)
    found = delegate_sim.analyze(model.bytes(), "xnnpack", defaults="api").to_dict()["runs"][0]
    assert found["refusal"]["code"] == "tensor-not-loaded"
    assert found["log_lines"][-1] == "Tensor 2 is invalidly specified in schema."


def test_the_first_later_release_of_each_family_is_told():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", "INT2", [4]))
    model = load(builder.bytes())
    for release, later in [("litert-2.0.3", ["litert-2.1.0", "tf-2.21"]), ("tf-2.16", ["tf-2.21", "litert-2.1.0"])]:
        assert list(first_loading_after(model, parse_release(release))) == [parse_release(name) for name in later]


@pytest.mark.parametrize(("op", "is_registered"), [("TFLite_Detection_PostProcess", True), ("RELU", False)])
def test_custom_operators_that_the_runtime_has_kernels_for(op, is_registered):
    found = custom_operators(load(custom_model(op).bytes()), target())
    assert found.unregistered == (frozenset() if is_registered else {op}), "a builtin operator of the name is another"


@pytest.mark.parametrize(("of_tensor", "of_node", "code"), [(0, 1, "tensor"), (1, 1, "tensor"), (1, 0, "node")])
def test_tensors_of_a_subgraph_are_read_before_its_nodes_and_before_later_subgraphs(of_tensor, of_node, code):
    builder = ModelBuilder()
    for number in range(2):
        graph = builder.subgraph(f"graph {number}")
        source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
        if number == of_tensor:
            graph.tensor("short", "FLOAT32", [4], b"\0" * 15)
        graph.node("FULLY_CONNECTED", [source], [result], options={"weights_format": 2 if number == of_node else 0})
        graph.outputs(result)
    loading = load_on(load(builder.bytes()), parse_release("litert-2.3"))
    assert loading.loads is Loads.NO
    assert [bool(loading.invalid), loading.invalid_node is not None] == [code == "tensor", code == "node"]


@pytest.mark.parametrize("assume_ops_registered", [False, True])
def test_nothing_is_assumed_of_custom_operators_that_are_registered(assume_ops_registered):
    model = load(custom_model("Resampler").bytes())
    found = custom_operators(model, target(assume_ops_registered=assume_ops_registered), frozenset({"Resampler"}))
    assert (found.assumed, found.unregistered) == ((), frozenset())


def test_the_first_subgraph_is_prepared_whatever_the_last_is():
    builder = custom_model("MyOp")
    graph = builder.subgraph("later")
    source, result = graph.input("in", "FLOAT32", (1, 4)), graph.tensor("out", "FLOAT32", (1, 4))
    graph.node("CEIL", (source,), (result,))
    graph.outputs(result)
    found = run(builder, delegate="xnnpack")
    assert (found["refusal"]["code"], found["refusal"]["subgraph"]) == ("operator-not-registered", 0)


def test_what_is_not_known_of_a_release_is_said_to_be_assumed():
    model, release = load(chain_model(["RELU"]).bytes()), Release("litert", (0, 9))
    loading = load_on(model, release)
    assert loading.loads is Loads.UNKNOWN
    custom = custom_operators(model, target()._replace(release=release))
    (warning,) = loading_warnings(model, loading, custom)
    assert f"{release} loads RELU version 1" in warning


def test_the_same_tensors_are_checked_once(monkeypatch):
    checked = []
    check = model_loading.invalid_tensors
    monkeypatch.setattr(model_loading, "invalid_tensors", lambda *arguments: checked.append(arguments) or check(*arguments))

    def of_other_size(editor):
        editor.tensors[0] = editor.tensors[0]._replace(shape=(-2,))

    model, cache = load(chain_model(["ADD", "RELU"]).bytes()), AnalysisCache()
    release = parse_release(DEFAULT_RELEASE)
    models = [model, edited(model, lambda editor: editor.remove([1])).model, edited(model, of_other_size).model]
    loaded = [not load_on(one, release, cache).invalid for one in models]
    assert loaded == [True, True, False]
    assert len(checked) == 2


def constants(model, release):
    read = as_read_by(model, parse_release(release))
    return sum(tensor.is_constant for subgraph in read.subgraphs for tensor in subgraph.tensors)


@pytest.mark.parametrize(("release", "is_constant"), [("tf-2.10", False), ("tf-2.11", True), ("litert-2.3", True)])
def test_a_constant_of_no_bytes(release, is_constant):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", [1]), graph.tensor("shape", "INT32", [0], data=[])
    result = graph.tensor("y", "FLOAT32", [])
    graph.node("RESHAPE", [source, shape], [result], options={})
    graph.outputs(result)
    assert (constants(load(builder.bytes()), release) == 1) == is_constant


@pytest.mark.parametrize("release", ["tf-2.10", "tf-2.11", "tf-2.13", "tf-2.14", "litert-2.3"])
def test_a_model_with_data_in_all_its_constants_is_the_same_model(release):
    model = load(MODELS / "activations.tflite")
    assert as_read_by(model, parse_release(release)) is model


def test_what_no_node_fills_is_no_constant_and_keeps_the_rest():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", [4]), graph.tensor("shape", "INT32", [2], data=[2, 2])
    empty, result = graph.tensor("empty", "INT32", [0], data=[]), graph.tensor("y", "FLOAT32", [2, 2])
    graph.node("RESHAPE", [source, shape], [result], options={})
    graph.node("RESHAPE", [source, empty], [graph.tensor("z", "FLOAT32", [])], options={})
    graph.outputs(result)
    (read,) = as_read_by(load(builder.bytes()), parse_release("tf-2.10")).subgraphs
    assert [tensor.is_constant for tensor in read.tensors[:3]] == [False, True, False]


def test_bytes_behind_the_flatbuffer():
    model = load(MODELS / "external_buffers.tflite")
    assert model.offset_buffers
    assert constants(model, "tf-2.13") < constants(model, "tf-2.14")
    assert as_read_by(model, parse_release("tf-2.14")) is model


@pytest.mark.parametrize("is_variable", [False, True])
def test_what_is_not_read_as_a_constant_keeps_its_state_if_it_is_a_variable(is_variable):
    builder = ModelBuilder()
    builder.subgraph("main").tensor("empty", "INT32", [0], data=[], variable=is_variable)
    ((tensor,),) = [subgraph.tensors for subgraph in as_read_by(load(builder.bytes()), parse_release("tf-2.10")).subgraphs]
    assert tensor.allocation is (Allocation.VARIABLE if is_variable else Allocation.ARENA)
