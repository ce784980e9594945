from __future__ import annotations

from pathlib import Path

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim_cli.text.analysis.view import MANY
from fixtures.builder import ModelBuilder
from tests.support.delegates.xnnpack_number_cases import square
from tests.support.models import chain_model

MIXED = """\
1 of 10 targets runs all nodes (4): ML Drift. A share is not speed; not ranked: Arm NN's delegate (the CPU), XNNPACK
  (the CPU), NPU plugins (they only select nodes) and the Edge TPU's delegate (not compiled yet)
4 nodes, each delegate on its own, on litert-2.3, benchmark_model's defaults
  delegate         delegated  multiply-adds  partitions  kernels  boundary bytes  main blocker
  Most devices
    mldrift        4 (100 %)              -           1        1              32
    xnnpack        4 (100 %)              -           1        1              32
  Android phones
    npu-google     4 (100 %)              -           1        1              32
    npu-mediatek    3 (75 %)              -           3        2              64  ROUND 1:
                                                                                  npu-mediatek-unsupported-operator
    npu-samsung    4 (100 %)              -           1        1              32
    gpu             1 (25 %)              -           2        1              32  ROUND 1: gpu-unsupported-operator
    hexagon             none              -           0        0               0  ADD 2: hexagon-tensor-type
    nnapi           2 (50 %)              -           3        2              64  ROUND 1: nnapi-operator
  iPhones
    coreml              none              -           0        0               0  ROUND 1: coreml-unsupported-operator
  Boards
    vx-nxp          3 (75 %)              -           3        2              64  ROUND 1: vx-unsupported-operator
    teflon              none              -           0        0               0  ADD 3: teflon-constant-operand
    ethosu-imx93        none              -           0        0               0  ADD 3: ethosu-imx93-tensor-type
    neutron-imx95       none              -           0        0               0  ADD 3: neutron-imx95-tensor-type
    vx              3 (75 %)              -           3        2              64  ROUND 1: vx-unsupported-operator
    edgetpu             none              -           0        0               0  not compiled yet:
                                                                                  edgetpu-unsupported-operator
    armnn           3 (75 %)              -           3        2              64  ROUND 1: armnn-unsupported-operator
  Computers
    npu-intel       3 (75 %)              -           3        2              64  ROUND 1:
                                                                                  npu-intel-unsupported-operator
Microcontrollers (delegate-sim micro): TensorFlow Lite Micro runs all nodes (4) in 1 graph; arena 1,340 bytes

gpu is TFLite's GPU delegate; mldrift is LiteRT 2's GPU accelerator; nnapi is deprecated since Android 15.

Selected, but not compiled: a compiler plugin only selects nodes for the NPU. Only the vendor's compiler and the device
can show whether these nodes can be compiled and run.
vx, vx-nxp: Taken, but not compiled: the delegate compiles these nodes on the device, when the model is first invoked.
  Only the device shows whether they can be compiled, how fast they run, and how their numbers differ from the CPU's.
npu-mediatek: this result is for a Neuron runtime before 8.2.24, or for mediatek_use_get_supported_operations=false;
  otherwise, MediaTek's closed-source compiler decides about each node
npu-samsung: the plugin selects every node, but nothing runs on the NPU if the compiler cannot compile one of the nodes.
  Only a run of the compiler shows which nodes it can compile

Not simulated: npu-qualcomm, which only --live runs. For one device: --device NAME, such as pixel10 or imx8mp. For one
kind of devices: --for phones, boards or computers; for microcontrollers: delegate-sim micro.

For details: --delegate NAME, or --delegate all
"""

DYNAMIC = """\
4 NPU plugins (no other target runs a node), without a ranking: they take 100 %
  of nodes; this is no promise, because selected nodes are not yet compiled
6 targets do not start: dynamic-sized tensor in the graph (gpu, mldrift, coreml,
  hexagon, armnn and nnapi)
1 node, each delegate on its own, on litert-2.3, benchmark_model's defaults
  delegate           delegated  multiply-adds  main blocker
  Most devices
    mldrift        not applied              -  RESHAPE 1: dynamic-tensors
    xnnpack               none              -  RESHAPE 1:
                                               xnnpack-constant-operand
  Android phones
    npu-google       1 (100 %)              -
    npu-mediatek     1 (100 %)              -
    npu-samsung      1 (100 %)              -
    gpu            not applied              -  RESHAPE 1: dynamic-tensors
    hexagon        not applied              -  RESHAPE 1: dynamic-tensors
    nnapi          not applied              -  RESHAPE 1: dynamic-tensors
  iPhones
    coreml         not applied              -  RESHAPE 1: dynamic-tensors
  Boards
    vx-nxp                none              -  RESHAPE 1: vx-constant-operand
    teflon                none              -  RESHAPE 1:
                                               teflon-unsupported-operator
    ethosu-imx93          none              -  RESHAPE 1:
                                               ethosu-imx93-tensor-type
    neutron-imx95         none              -  RESHAPE 1:
                                               neutron-imx95-tensor-type
    vx                    none              -  RESHAPE 1: vx-constant-operand
    edgetpu               none              -  not compiled yet:
                                               edgetpu-unsupported-operator
    armnn          not applied              -  RESHAPE 1: dynamic-tensors
  Computers
    npu-intel        1 (100 %)              -
Microcontrollers (delegate-sim micro): TensorFlow Lite Micro runs all nodes (1)
  in 1 graph; arena 852 bytes

gpu is TFLite's GPU delegate; mldrift is LiteRT 2's GPU accelerator; nnapi is
deprecated since Android 15.

Selected, but not compiled: a compiler plugin only selects nodes for the NPU.
Only the vendor's compiler and the device can show whether these nodes can be
compiled and run.
npu-mediatek: this result is for a Neuron runtime before 8.2.24, or for
  mediatek_use_get_supported_operations=false; otherwise, MediaTek's
  closed-source compiler decides about each node
npu-samsung: the plugin selects every node, but nothing runs on the NPU if the
  compiler cannot compile one of the nodes. Only a run of the compiler shows
  which nodes it can compile

Not simulated: npu-qualcomm, which only --live runs. For one device: --device
NAME, such as pixel10 or imx8mp. For one kind of devices: --for phones, boards
or computers; for microcontrollers: delegate-sim micro.

For details: --delegate NAME, or --delegate all
"""


@pytest.fixture
def dynamic_model(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", [1, 4]), graph.input("shape", "INT32", [2])
    result = graph.tensor("y", "FLOAT32", [2, 2])
    graph.node("RESHAPE", [source, shape], [result])
    graph.outputs(result)
    path = tmp_path / "dynamic.tflite"
    builder.write(path)
    return path


def test_an_unknown_release_is_told_above_the_table(run, dynamic_model, tmp_path):
    told = "Warning: tf-2.99 is not known, because it is newer than tf-2.22; the rules of"
    assert told in run("analyze", dynamic_model, "--runtime", "tf-2.99").stdout
    models = [tmp_path / f"{number}.tflite" for number in range(MANY)]
    for path in models:
        path.write_bytes(dynamic_model.read_bytes())
    of_many = run("analyze", *models, "--delegate", "nnapi", "--runtime", "tf-2.99").stdout
    assert of_many.count(told) == 1
    assert "Warning" not in run("analyze", dynamic_model).stdout


def test_a_row_for_each_delegate(run, model):
    result = run("analyze", model, COLUMNS="120")
    assert (result.stdout, result.stderr, result.exit_code) == (MIXED, "", 0)


def test_a_narrow_table_leaves_out_bytes_partitions_and_kernels(run, dynamic_model):
    assert run("analyze", dynamic_model).stdout == DYNAMIC


def test_several_models_stand_below_headings_with_one_footer(run, model, dynamic_model):
    text = run("analyze", model, dynamic_model, COLUMNS="120").stdout
    footer = MIXED[MIXED.index("\ngpu is TFLite's GPU delegate") :]
    assert text.startswith(f"=== {model} ===\n{MIXED.removesuffix(footer)}\n=== {dynamic_model} ===\n4 NPU plugins ")
    assert text.endswith(footer)
    assert text.count("For details: ") == 1


def test_the_blocker_of_most_nodes_comes_first(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1])
    for number, op in enumerate(("ABS", "ROUND", "ROUND", "CEIL")):
        result = graph.tensor(f"y{number}", "FLOAT32", [1])
        graph.node(op, [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    builder.write(tmp_path / "model.tflite")
    rows = run("analyze", tmp_path / "model.tflite", COLUMNS="120").stdout.splitlines()
    assert [row.split("  ")[-1].strip() for row in rows if row.endswith("nnapi-operator")] == ["ROUND 2: nnapi-operator"]


def test_a_restored_run_names_the_failure(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", "FLOAT32", [1], data=[1])
    result = graph.tensor("y", "FLOAT32", [1])
    graph.node("ADD", [weights, weights], [result], options={})
    graph.outputs(result)
    builder.write(tmp_path / "model.tflite")
    rows = run(
        "analyze", tmp_path / "model.tflite", "--disable-nnapi-cpu=false", "--android=none", COLUMNS="120"
    ).stdout.splitlines()
    assert [row.split() for row in rows if row.startswith("    nnapi ")] == [
        ["nnapi", "rejected", "-", "0", "0", "0", "nnapi-empty-pool"]
    ]


@pytest.mark.parametrize("device", ["imx95", "imx93"])
def test_an_overview_says_once_for_what_a_file_was_compiled(run, tmp_path, device):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "INT8", [1, 4], scale=0.5)
    graph.node("CUSTOM", [graph.input("x", "INT8", [1, 4], scale=0.5)], [result], custom="NeutronGraph", custom_options=b"")
    graph.outputs(result)
    builder.write(tmp_path / "model.tflite")
    text = run("analyze", tmp_path / "model.tflite", "--device", device).stdout
    assert text.count("Warning: ") == 1


def test_json_holds_all_runs_in_full(run_json, model):
    report = run_json("analyze", model)
    assert [entry["delegate"] for entry in report["runs"]] == list(DELEGATE_NAMES)
    assert report == run_json("analyze", model, "--delegate", "all")


def test_options_go_to_the_delegates_that_have_them(run_json, model):
    arguments = ("--max_delegated_partitions=2", "--option", "release=lf-6.6.3")
    options = {entry["delegate"]: entry["options"] for entry in run_json("analyze", model, *arguments)["runs"]}
    assert options["nnapi"]["max_number_delegated_partitions"] == 2
    assert [options[name]["max_delegated_partitions"] for name in ("gpu", "coreml", "hexagon")] == [2, 2, 2]
    assert [options[name]["release"] for name in ("vx-nxp", "neutron-imx95")] == ["lf-6.6.3", "lf-6.6.3"]
    assert "release" not in options["vx"]


def test_an_option_that_no_delegate_has(run, model):
    result = run("analyze", model, "--option", "speed=3")
    assert (result.exit_code, result.stdout) == (2, "")
    assert ", ".join(DELEGATE_NAMES) in result.stderr
    assert "'speed'" in result.stderr


@pytest.mark.parametrize("columns", [60, 84, 120])
def test_no_line_is_wider_than_the_terminal(run, model, columns):
    assert max(map(len, run("analyze", model, COLUMNS=str(columns)).stdout.splitlines())) <= columns


def test_output_is_the_same_in_a_file(run, tmp_path, model):
    run("analyze", model, "--output", tmp_path / "overview", COLUMNS="120")
    assert (tmp_path / "overview").read_text() == MIXED


def test_a_consequence_is_no_blocker(run, tmp_path):
    """Of nodes beyond a limit on partitions and the one that splits the graph, the latter is named."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    for number, op in enumerate(("ABS", "ROUND", "ABS", "ABS", "ABS")):
        result = graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node(op, [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    builder.write(tmp_path / "model.tflite")
    rows = run("analyze", tmp_path / "model.tflite", COLUMNS="140").stdout.splitlines()
    assert next(row for row in rows if row.startswith("    gpu ")).endswith("ROUND 1: gpu-unsupported-operator")


def test_float16_weights_that_stay_behind_are_no_blocker(run, tmp_path):
    """Of the nodes that widen weights and the one for which they are left on the CPU, the latter is named."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    for number, op in enumerate(("ADD", "ADD", "FLOOR_MOD", "ADD")):
        narrow = graph.tensor(f"h{number}", "FLOAT16", [1, 4], data=[1, 2, 3, 4])
        wide, result = (graph.tensor(f"{name}{number}", "FLOAT32", [1, 4]) for name in "wy")
        graph.node("DEQUANTIZE", [narrow], [wide], 3)
        graph.node(op, [tensor, wide], [result], 1, {} if op == "ADD" else None)
        tensor = result
    graph.outputs(tensor)
    path = tmp_path / "model.tflite"
    builder.write(path)
    detail = run("analyze", path, "--delegate", "nnapi").stdout
    assert "float16-dequantize: needs" in detail
    rows = run("analyze", path, COLUMNS="140").stdout.splitlines()
    assert next(row for row in rows if row.startswith("    nnapi ")).endswith("FLOOR_MOD 1: nnapi-operator")


def test_what_stops_several_targets_is_said_once_with_the_command_that_mends_it(run, tmp_path, monkeypatch):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4, 4, 2], signature=[-1, 4, 4, 2])
    sizes, size = graph.tensor("sizes", "INT32", [4]), graph.tensor("size", "INT32", [])
    packed, result = graph.tensor("packed", "INT32", [2]), graph.tensor("y", "FLOAT32", [1, 32], signature=[-1, 32])
    graph.node("SHAPE", [source], [sizes], 1, {"out_type": 2})
    slices = [graph.tensor(f"k{value}", "INT32", [1], data=[value]) for value in (0, 1, 1)]
    graph.node("STRIDED_SLICE", [sizes, *slices], [size], 1, {"shrink_axis_mask": 1})
    graph.node("PACK", [size, graph.tensor("k", "INT32", [], data=[32])], [packed], 1, {"values_count": 2})
    graph.node("RESHAPE", [source, packed], [result], 1, {})
    graph.outputs(result)
    monkeypatch.chdir(tmp_path)
    Path("open.tflite").write_bytes(builder.bytes())
    text = run("analyze", "open.tflite").stdout
    assert "\n    delegate-sim fix open.tflite --delegate gpu --shape x=1,4,4,2 -o fixed.tflite\n" in text


LINES = [
    "Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 4 partitions for subgraph 0 (main).",
    "Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.",
    "Replacing 1 out of 4 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions for subgraph 0 (main).",
]
PLACES = """\
Where nodes run
  nnapi    2 nodes: RELU 1, TANH 1 [0, 2]
  xnnpack  1 node: CEIL 1 [1]
  cpu      1 node: SIGN 1 [3]
"""


@pytest.fixture
def four_nodes(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number, op in enumerate(["RELU", "CEIL", "TANH", "SIGN"]):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.bytes())
    return str(path)


def test_xnnpack_is_applied_by_default_to_what_one_delegate_leaves(run, four_nodes):
    text = run("analyze", four_nodes, "--delegate", "nnapi", "--feature-level", "31").stdout
    assert "\n\n" + "\n".join(LINES) in text
    assert PLACES in text
    assert "TfLiteXNNPackDelegate" not in run("analyze", four_nodes, "--delegate", "nnapi", "--no-default-xnnpack").stdout


def test_a_chain_goes_into_each_delegate(run, four_nodes):
    text = run("analyze", four_nodes, "--delegate", "nnapi", "--delegate", "xnnpack", "--chain", "--feature-level", "31").stdout
    assert "\n\n" + "\n".join(LINES) in text
    assert "--- nnapi ---" in text
    assert "--- xnnpack ---" in text
    assert PLACES in text


def test_a_chain_says_what_a_later_delegate_computes_wrongly(run, tmp_path):
    path = tmp_path / "square.tflite"
    path.write_bytes(square())
    arguments = ("analyze", path, "--delegate", "hexagon", "--runtime", "litert-2.3.0")
    chain = run(*arguments, "--delegate", "xnnpack", "--chain").stdout
    assert "Then XNNPACK runs 2 of the remaining 2 nodes, but computes 1 of them wrongly" in chain
    for text in (chain, run(*arguments, "--default-xnnpack").stdout):
        assert text.count("Wrong numbers\n  xnnpack-numbers-matrix-square: BATCH_MATMUL [1]") == 1


def test_kernels_of_earlier_delegates_are_neither_refused_nor_advised(run, four_nodes):
    text = run("analyze", four_nodes, "--delegate", "nnapi", "--delegate", "gpu", "--chain", "--feature-level", "31").stdout
    own = text.partition("--- gpu ---")[2]
    assert "  nodes             4 total (2 " in own
    assert "On the CPU: 1 node" in own
    assert "TfLiteNnapiDelegate:" not in own


def test_a_chain_needs_delegates(run, four_nodes):
    result = run("analyze", four_nodes, "--chain")
    assert result.exit_code == 2
    assert "--delegate" in result.stderr


def test_after_a_failure_benchmark_model_does_not_come_to_xnnpack(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("in", "FLOAT32", (1, 4)), graph.input("shape", "INT32", (2,))
    result = graph.tensor("out", "FLOAT32", (2, 2))
    graph.node("RESHAPE", (source, shape), (result,), options={})
    graph.outputs(result)
    path = tmp_path / "dynamic.tflite"
    path.write_bytes(builder.bytes())
    assert "xnnpack" not in run("analyze", str(path), "--delegate", "nnapi").stdout


def test_nodes_on_the_cpu_need_the_cpu_accelerator(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    for number, op in enumerate(("ABS", "RELU_0_TO_1")):
        result = graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node(op, [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    builder.write(tmp_path / "model.tflite")
    sentence = "If the application gives no CPU accelerator besides this one, CompiledModel is not created"
    text = " ".join(run("analyze", tmp_path / "model.tflite", "--delegate", "mldrift").stdout.split())
    assert sentence in text
    for further in (("--delegate", "gpu"), ("--delegate", "mldrift", "--option", "cpu_fallback=false")):
        assert sentence not in " ".join(run("analyze", tmp_path / "model.tflite", *further).stdout.split())


def test_advice_to_name_a_device_is_only_for_users_who_named_none(run, model):
    advice = "For one device: --device NAME"
    assert advice in " ".join(run("analyze", model).stdout.split())
    assert advice not in " ".join(run("analyze", model, "--device", "coral", "--device", "pixel9").stdout.split())


def test_many_models_have_one_line_each(run, tmp_path):
    for number in range(4):
        chain_model(["ADD", "ROUND"]).write(tmp_path / f"m{number}.tflite")
    text = run("analyze", tmp_path).stdout
    assert [text.count(f"m{number}.tflite") for number in range(4)] == [1] * 4
    assert "largest share" in text
    assert max(map(len, text.splitlines())) <= 80
    text = run("analyze", tmp_path, "--delegate", "gpu", "--delegate", "nnapi").stdout
    assert [text.count(f"m{number}.tflite") for number in range(4)] == [2] * 4
