"""Logs beside the simulation, and explanations of the differences."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.device.compare import trial_simulations
from delegate_sim.device.compare.driver_profile import LearningError, learn
from delegate_sim.device.compare.observed_delegation import Tally
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.log import read_log, read_runs_file
from delegate_sim.device.parse.log_contents import ReconcileError
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder
from fixtures.device_logs import FORMS, Device, HiddenDriver, HiddenRule, write_log
from tests.support.device.logs import REPLACING, SYNAP
from tests.support.models import MIXED, chain_model

TRANSFORMER = "fixtures/models/transformer_block.tflite"


def chain(*ops):
    return delegate_sim.load(chain_model(ops).bytes())


def detector():
    """A model like a detector's neck: convolutions around a RESIZE_NEAREST_NEIGHBOR."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last, shape = graph.input("image", "FLOAT32", (1, 4, 4, 2)), (1, 4, 4, 2)
    for number in range(4):
        if number == 2:
            size = graph.tensor("size", "INT32", (2,), data=[8, 8])
            shape = (1, 8, 8, 2)
            result = graph.tensor("upsampled", "FLOAT32", shape)
            graph.node("RESIZE_NEAREST_NEIGHBOR", (last, size), (result,), options={})
            last = result
        weights = graph.tensor(f"weights{number}", "FLOAT32", (2, 1, 1, 2), data=[1] * 4)
        bias = graph.tensor(f"bias{number}", "FLOAT32", (2,), data=[0, 0])
        result = graph.tensor(f"feature{number}", "FLOAT32", shape)
        graph.node("CONV_2D", (last, weights, bias), (result,), options={"stride_w": 1, "stride_h": 1})
        last = result
    graph.outputs(last)
    return delegate_sim.load(builder.bytes())


def causes(found):
    return {node.node: node.cause for node in found.nodes}


def test_everything_delegated_as_published():
    found = reconcile(chain(*["ADD"] * 31), read_log(SYNAP))
    assert found.status == "reproduced"
    assert found.setting.delegate.name == "nnapi"
    assert [str(release) for release in found.setting.releases] == ["tf-2.15"]
    assert found.setting.options["accelerator_name"] == "synap-npu"
    assert found.device == found.simulated
    assert found.nodes == ()


@pytest.mark.parametrize("form", FORMS)
def test_an_operator_on_the_cpu_between_two_delegate_kernels(form):
    model = detector()
    log = read_log(write_log(model, Device(HiddenDriver(HiddenRule("RESIZE_NEAREST_NEIGHBOR")), {}, "tf-2.15"), form))
    assert [row.op for row in log.run_orders[0].rows] == ["TfLiteNnapiDelegate", "RESIZE_NEAREST_NEIGHBOR", "TfLiteNnapiDelegate"]
    found = reconcile(model, log)
    assert (found.status, found.evidence, found.account.kind) == ("explained", "run-order", "driver")
    assert causes(found) == {2: "driver"}
    assert (found.device.kernels, found.device.delegated, found.simulated.delegated) == (2, 4, 5)


def test_a_summary_by_node_type_as_of_distilbert():
    model = delegate_sim.load(TRANSFORMER)
    device = Device(HiddenDriver(HiddenRule("FULLY_CONNECTED"), HiddenRule("MEAN")), {}, "tf-2.15")
    log = read_log(write_log(model, device, "logcat", has_run_order=False))
    assert {"FULLY_CONNECTED", "MEAN", "TfLiteNnapiDelegate"} == set(log.summaries[0].counts)
    found = reconcile(model, log)
    assert (found.status, found.evidence) == ("explained", "node-types")
    by_driver = {node.op for node in found.nodes if node.cause == "driver"}
    assert by_driver == {"FULLY_CONNECTED", "MEAN"}
    assert "by operator: FULLY_CONNECTED, MEAN" in found.account.text


def test_a_summary_that_several_choices_fit():
    model = chain("RELU", "ADD", "RELU", "ADD", "ADD")
    text = write_log(model, Device(HiddenDriver(HiddenRule("RELU"))), has_run_order=False)
    log = read_log(text.replace("RELU\t        2", "RELU\t        1"))
    assert reconcile(model, log).status == "unexplained"


def test_only_the_lines():
    model = chain("ADD", "RELU", "ADD", "TANH", "ADD")
    log = read_log(write_log(model, Device(HiddenDriver(HiddenRule("RELU"))), has_run_order=False, has_summary=False))
    found = reconcile(model, log)
    assert (found.status, found.evidence, found.account.is_certain) == ("explained", "lines", False)
    assert "RELU" in found.account.text
    assert "TANH" in found.account.text
    assert set(causes(found).values()) == {"undecided"}


def test_a_limit_and_a_driver():
    model = chain("ADD", "ADD", "ADD", "RELU", "ADD", "ROUND", "ADD", "ADD")
    options = {"max_number_delegated_partitions": 2}
    found = reconcile(model, read_log(write_log(model, Device(HiddenDriver(HiddenRule("RELU")), options))))
    assert found.status == "explained"
    assert causes(found) == {3: "driver", 4: "limit", 5: "refused"}


@pytest.mark.parametrize(
    ("options", "defaults"),
    [
        # An application that lifted the limit, on an old phone; then benchmark_model without parameters, with the API's limit.
        ({"max_number_delegated_partitions": 0, "feature_level": 29}, "api"),
        ({"max_number_delegated_partitions": 3, "feature_level": 27}, "benchmark"),
        # An application with a limit of its own.
        ({"max_number_delegated_partitions": 4, "feature_level": 29}, "api"),
    ],
)
def test_the_other_defaults_at_another_feature_level(options, defaults):
    model = chain(*["EXP", "ADD", "ELU", "ROUND"] * 5)
    (line,) = [line for line in Device(None, options).run(model).log_lines if line.startswith("Replacing")]
    log = read_log(f"VERBOSE: {line}\n")
    found = reconcile(model, log, setting_of(log, defaults=defaults))
    assert (found.status, found.account.kind) == ("explained", "options")
    limit = "max_number_delegated_partitions"
    assert found.account.options[limit] == options[limit]
    assert "feature level" in found.account.text


def test_a_driver_where_the_log_disproves_the_limit():
    model = chain(*["ADD", "RELU", "ROUND"] * 5)
    device = Device(HiddenDriver(HiddenRule("RELU")), {"max_number_delegated_partitions": 0})
    for form in ({}, {"has_run_order": False, "has_summary": False}):
        log = read_log(write_log(model, device, "logcat", **form))
        found = reconcile(model, log, setting_of(log, defaults="api"))
        assert (found.status, found.account.kind) == ("explained", "driver")
        assert found.account.options["max_number_delegated_partitions"] == 0
        assert "limit" not in causes(found).values()


def test_a_limit_that_the_log_disproves_drops_nothing():
    model = chain(*["ADD", "ROUND"] * 6)
    found = reconcile(model, read_log(REPLACING.replace("31 out of 31", "7 out of 12").replace("1 part", "10 part")))
    assert found.status == "unexplained"
    assert set(causes(found).values()) == {"refused"}
    assert any("more delegate kernels than --max-delegated-partitions=3 allows" in note for note in found.notes)


def test_a_limit_that_no_option_changes_stays():
    model = chain(*["ADD", "FLOOR_MOD"] * 6)
    line = "VERBOSE: Replacing 6 out of 12 node(s) with delegate (LITERT_CL) node, yielding 12 partitions for subgraph 0 (main)."
    found = reconcile(model, read_log(f"{line}\n"))
    assert found.status == "unexplained"
    assert found.run.delegate.limits.option == ""


def test_a_limit_that_an_application_sets():
    model = chain("ADD", "ADD", "ROUND", "ADD", "ROUND", "ADD", "ROUND", "ADD")
    run = Device(None, {"max_number_delegated_partitions": 1}).run(model)
    found = reconcile(model, read_log(f"VERBOSE: {run.log_lines[0]}\n"))
    assert found.setting.defaults == "api"
    assert found.account.options == {"max_number_delegated_partitions": 1}
    assert set(causes(found).values()) == {"limit", "refused"}


@pytest.mark.parametrize(
    ("line", "closest"),
    [
        ("7 out of 12 node(s) with delegate (LITERT_CL) node, yielding 10 partitions", None),
        ("6 out of 11 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 11 partitions", 6),
        ("2 out of 11 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 4 partitions", 2),
    ],
)
def test_more_kernels_than_a_limit_that_no_option_sets_or_that_is_known(line, closest):
    """A limit that follows from the log is no explanation, but the closest assumption names another one."""
    model = chain(*["ADD", "ROUND"] * 5, *(["ADD"] if closest else ["ADD", "ROUND"]))
    begin = "INFO: STARTING!\nINFO: Use gpu: [1]\n" if closest else ""
    found = reconcile(model, read_log(f"{begin}VERBOSE: Replacing {line} for subgraph 0 (main).\n"))
    assert found.status == "unexplained"
    trial = found.closest
    assert (trial and (trial.options, trial.differences)) == (closest and ({"max_delegated_partitions": closest}, ()))


def test_few_of_many_limits_that_a_log_shows_are_tried():
    line = "Replacing 1 node(s) with delegate (TfLiteNnapiDelegate) node, yielding {} partitions for subgraph {} (x).\n"
    log = read_log("".join([line.format(2 * number, number) for number in range(60)]))
    with patch.object(trial_simulations, "simulate_setting", wraps=trial_simulations.simulate_setting) as simulated:
        assert reconcile(chain("RELU"), log).status == "unexplained"
    assert simulated.call_count < 400


def test_another_feature_level():
    model = delegate_sim.load(TRANSFORMER)
    log = read_log(write_log(model, Device(None, {"feature_level": 29}), has_refusals=True))
    found = reconcile(model, log)
    assert found.account.options == {"feature_level": 29}
    assert "Android 10" in found.account.text
    assert found.feature_levels == (29,)
    assert {refusal.op for refusal in found.refusals} == {"BATCH_MATMUL", "FULLY_CONNECTED", "PACK", "UNPACK"}


def test_a_driver_is_likelier_and_the_level_is_named():
    model = delegate_sim.load(TRANSFORMER)
    found = reconcile(model, read_log(write_log(model, Device(None, {"feature_level": 29}))))
    assert (found.account.kind, found.feature_levels) == ("driver", (29,))


def test_without_a_table_a_driver_and_the_level_are_both_named():
    """Only the counts of a log of Android 11, which a driver of Android 13 without these operations gives too."""
    model = delegate_sim.load(TRANSFORMER)
    log = read_log(write_log(model, Device(None, {"feature_level": 29}), has_run_order=False, has_summary=False))
    found = reconcile(model, log)
    assert (found.account.kind, found.account.is_certain, found.feature_levels) == ("driver", False, (29,))
    found = reconcile(model, log, setting_of(log, options={"nnapi_runtime": "13"}))
    assert (found.account.kind, found.account.is_certain, found.feature_levels) == ("driver", False, ())


def test_a_gpu_kernel_that_fails_in_init_after_the_nodes_were_replaced_as_simulated():
    cause = "TfLiteGpuDelegate Init: Not enough memory"
    log = (
        "VERBOSE: Replacing 5 out of 5 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions for subgraph 0.\n"
        f"ERROR: {cause}\nINFO: Created 0 GPU delegate kernels.\n"
        "ERROR: TfLiteGpuDelegate Prepare: delegate is not initialized\n"
        "ERROR: Node number 5 (TfLiteGpuDelegateV2) failed to prepare.\n"
        "ERROR: Restored original execution plan after delegate application failure.\n"
    )
    found = reconcile(chain(*["ADD"] * 5), read_log(log))
    assert (found.status, found.account.kind, found.failure) == ("explained", "compilation", cause)
    assert (found.device.delegated, found.device.on_cpu, found.simulated.delegated) == (0, 5, 5)
    other = reconcile(chain(*["ADD"] * 5), read_log(log.replace("Replacing 5", "Replacing 4")))
    assert other.status == "unexplained"


def test_a_level_that_is_given_is_not_questioned():
    model = delegate_sim.load(TRANSFORMER)
    log = read_log(write_log(model, Device(None, {"feature_level": 29}), has_refusals=True))
    found = reconcile(model, log, setting_of(log, options={"feature_level": 31}))
    assert found.status == "unexplained"
    assert reconcile(model, log, setting_of(log, options={"feature_level": 29})).status == "reproduced"


@pytest.mark.parametrize(
    "name", ["dynamic_reshape", "float16_weights", "sparse_weights", "control_flow", "int64_tensor", "quantized_block"]
)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_simulated_is_reproduced(name, form):
    model = delegate_sim.load(f"fixtures/models/{name}.tflite")
    assert reconcile(model, read_log(write_log(model, Device(), form))).status == "reproduced"


@pytest.mark.parametrize("delegate", ["gpu", "xnnpack", "vx", "coreml", "hexagon"])
def test_other_delegates(delegate):
    model = delegate_sim.load("fixtures/models/mobilenet_block.tflite")
    target = delegate_sim.delegates.registry.find_delegate(delegate)
    options = parse_options(delegate, target.options, {}, "benchmark")
    run = simulate(model, Target(target, options, parse_release("tf-2.15"), "benchmark"))
    log = read_log("INFO: STARTING!\n" + "".join(f"INFO: {line}\n" for line in run.log_lines))
    found = reconcile(model, log)
    assert (found.setting.delegate.name, found.status) == (delegate, "reproduced")


@pytest.mark.parametrize(
    ("name", "release", "delegate", "status", "found_options"),
    [
        ("convolutions", "lf-6.6.3", None, "reproduced", None),
        ("arithmetic", "lf-5.15.71", None, "explained", {"release": "lf-5.15.71"}),
        ("arithmetic", "lf-5.15.71", "vx", "unexplained", None),
        ("arithmetic", "lf-5.15.71", "vx-nxp", "explained", {"release": "lf-5.15.71"}),
    ],
)
def test_another_delegate_with_the_same_lines(name, release, delegate, status, found_options):
    model = delegate_sim.load(f"fixtures/models/{name}.tflite")
    target = delegate_sim.delegates.registry.find_delegate("vx-nxp")
    options = parse_options("vx-nxp", target.options, {"release": release}, "benchmark")
    run = simulate(model, Target(target, options, parse_release("litert-2.3"), "benchmark"))
    log = read_log("INFO: STARTING!\n" + "".join(f"INFO: {line}\n" for line in run.log_lines))
    found = reconcile(model, log, setting_of(log, delegate))
    assert (found.setting.delegate.name, found.status) == (delegate or "vx-nxp", status)
    assert (found.account and found.account.options) == found_options


def test_another_version_of_coreml():
    """Core ML 3 refuses RESHAPE."""
    model = delegate_sim.load("fixtures/models/transformer_block.tflite")
    report = delegate_sim.analyze(model, "coreml", {"coreml_version": 2})
    found = reconcile(model, read_log("INFO: STARTING!\n" + "".join(f"INFO: {line}\n" for line in report.log_lines)))
    assert (found.status, found.account.options) == ("explained", {"coreml_version": 2})


def test_a_driver_that_cannot_compile():
    model = chain("ADD", "RELU")
    line = Device().run(model).log_lines[0]
    log = read_log(
        f"INFO: {line}\n"
        "ERROR: NN API returned error ANEURALNETWORKS_OP_FAILED at line 4650 while completing NNAPI compilation.\n"
        "ERROR: Node number 2 (TfLiteNnapiDelegate) failed to prepare.\n"
        "ERROR: Restored original execution plan after delegate application failure.\n"
    )
    found = reconcile(model, log)
    assert (found.status, found.account.kind) == ("explained", "compilation")


def test_nodes_that_xnnpack_took_are_not_known():
    model = chain("ADD", "RELU", "ADD", "ROUND")
    text = write_log(model, Device(HiddenDriver(HiddenRule("RELU"))))
    taken = "\t Clamp (NC, F32)\t 0.1\t 0.1\t 1.0%\t 1.0%\t 0.0\t 1\tDelegate/Clamp (NC, F32):0\n"
    lines = [taken if "]:1\n" in line and "RELU" in line else line for line in text.splitlines(keepends=True)]
    listed = "".join(lines).replace("RELU\t", "Clamp (NC, F32)\t")
    found = reconcile(model, read_log(listed))
    assert found.evidence == "partial"
    assert any("--use_xnnpack=false" in note for note in found.notes)
    assert (found.status, found.account.is_certain) == ("explained", False)
    summary = write_log(model, Device(HiddenDriver(HiddenRule("RELU"))), has_run_order=False).replace(
        "RELU\t", "Clamp (NC, F32)\t"
    )
    found = reconcile(model, read_log(summary))
    assert found.evidence == "lines"
    assert any("--use_xnnpack=false" in note for note in found.notes)


def test_a_table_that_is_cut_short_tells_of_its_nodes():
    model = chain("ADD", "RELU", "ADD", "ROUND", "ADD")
    text = write_log(model, Device(HiddenDriver(HiddenRule("RELU"))), has_summary=False)
    cut = text[: text.index(":3\n", text.rindex("Run Order"))]
    found = reconcile(model, read_log(cut))
    assert found.evidence == "partial"
    assert any("cut short" in note for note in found.notes)


def test_old_tables_without_node_indices():
    model = chain("ADD", "RELU", "ADD", "RELU", "ROUND")
    text = write_log(model, Device(HiddenDriver(HiddenRule("RELU"))))
    for index in range(len(model.subgraphs[0].nodes) + 3):
        text = text.replace(f"]:{index}\n", "]\n")
    assert causes(reconcile(model, read_log(text))) == {1: "driver", 3: "driver", 4: "refused"}


def test_a_log_of_another_model():
    log = read_log(write_log(chain("ADD", "RELU", "CEIL"), Device()))
    with pytest.raises(ReconcileError, match="the log lists CEIL as node 2 of subgraph 0, but the model has no such node"):
        reconcile(chain(*MIXED), log)
    summary = read_log(write_log(chain("ADD", "RELU", "CEIL"), Device(), has_run_order=False))
    with pytest.raises(ReconcileError, match="subgraph 0 does not have; is the log from this model"):
        reconcile(chain(*MIXED), summary)
    found = reconcile(chain(*MIXED), read_log(SYNAP))
    assert found.status == "unexplained"
    assert any("31 nodes" in note for note in found.notes)


def test_a_partition_below_the_minimum_is_left_out_by_a_limit():
    model = chain("ADD", "ADD", "ROUND", "ADD")
    line = "Replacing 2 out of 4 node(s) with delegate (TfLiteCoreMlDelegate) node, yielding 2 partitions for the whole graph."
    found = reconcile(model, read_log(f"INFO: {line}\n"))
    assert (found.setting.delegate.name, found.status) == ("coreml", "reproduced")
    assert causes(found) == {2: "refused", 3: "limit"}


def test_refusals_of_another_delegate_are_not_compared():
    model = chain("ADD", "RELU")
    log = read_log(write_log(model, Device(), has_refusals=True) + "WARN: Operator ADD (v1) refused by NNAPI delegate: no\n")
    assert reconcile(model, log, setting_of(log, "nnapi")).refusals
    assert not reconcile(model, log, setting_of(log, "gpu")).refusals


COMPILATION = """\
STARTING!
Graph: [/data/local/tmp/model.tflite]
Use NNAPI: [1]
Loaded model /data/local/tmp/model.tflite
INFO: Created TensorFlow Lite delegate for NNAPI.
{line}ERROR: NN API returned error ANEURALNETWORKS_OP_FAILED at line 3779 while completing NNAPI compilation.

ERROR: Node number {node} (TfLiteNnapiDelegate) failed to prepare.

ERROR: Restored original execution plan after delegate application failure.
Failed to apply NNAPI delegate.
Benchmarking failed.
"""


@pytest.mark.parametrize(
    ("doing", "status"),
    [("adding operation", "unexplained"), ("finalizing the model", "unexplained"), ("completing NNAPI compilation", "explained")],
)
def test_only_a_driver_that_got_the_model_can_fail_to_compile_it(doing, status):
    log = read_log(
        "INFO: STARTING!\nINFO: Use NNAPI: [1]\nINFO: Created TensorFlow Lite delegate for NNAPI.\n"
        f"ERROR: NN API returned error ANEURALNETWORKS_BAD_DATA at line 1144 while {doing}.\n"
        "ERROR: Restored original execution plan after delegate application failure.\nFailed to apply NNAPI delegate.\n"
    )
    found = reconcile(chain("ADD", "RELU"), log)
    assert (found.status, found.account and found.account.kind) == (status, "compilation" if status == "explained" else None)
    assert found.device.delegated == 0


@pytest.mark.parametrize("line", ["", REPLACING])
def test_a_kernel_that_the_driver_cannot_compile_with_and_without_the_line_of_the_replacement(line):
    found = reconcile(chain(*["ADD"] * 31), read_log(COMPILATION.format(line=line, node=31)))
    assert (found.status, found.account.kind) == ("explained", "compilation")
    assert "(kernel 1 of 1)" in found.account.text
    assert found.device == Tally(found.device.lines, 0, 0, 0, 0), "nothing runs after the benchmark failed"
    assert [error.kind for error in found.errors] == ["api-error", "node-error", "benchmark-failed"]


@pytest.mark.parametrize("node", [30, 32, 248])
def test_a_kernel_with_a_number_that_the_model_cannot_have_shows_another_model(node):
    found = reconcile(chain(*["ADD"] * 31), read_log(COMPILATION.format(line="", node=node)))
    assert found.status == "unexplained"
    assert any(f"node {node}" in note for note in found.notes)


def test_counts_are_never_negative():
    line = (
        "Replacing 970 out of 1009 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 77 partitions for subgraph 0.\n"
    )
    found = reconcile(chain("ADD", "ADD"), read_log(line))
    assert (found.device.delegated, found.device.on_cpu) == (970, 39)
    assert any("this model?" in note for note in found.notes)


def test_a_predicted_failure_that_did_not_happen_is_a_difference():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", (4, 4, 3, 2)), graph.tensor("y", "FLOAT32", (4, 4, 3, 2))
    graph.node("ADD", (source, graph.tensor("c", "FLOAT32", (4, 4, 3, 2), data=[1] * 96)), (result,), options={})
    graph.outputs(result)
    line = "Replacing 1 out of 1 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions for subgraph 0.\n"
    applied = "Explicitly applied GPU delegate, and the model graph will be completely executed by the delegate.\n"
    model = delegate_sim.load(builder.bytes())
    assert [reconcile(model, read_log(text)).status for text in (line, line + applied)] == ["reproduced", "unexplained"]


LISTED = """\
ERROR: Following operations are not supported by GPU delegate:
{op}: Operation is not supported.
{taken} operations will run on the GPU, and the remaining {left} operations will run on the CPU.
"""


def test_operators_that_a_delegate_lists_as_refused():
    model = chain("ADD", "RELU", "ADD", "ADD", "ROUND", "ADD")
    found = reconcile(model, read_log(LISTED.format(op="ROUND", taken=4, left=2)))
    assert (found.setting.delegate.name, found.status) == ("gpu", "reproduced")
    assert [(each.op, each.nodes, each.is_same) for each in found.listed_refusals] == [("ROUND", 1, True)]
    assert found.listed_refusals[0].has_same_reasons
    lacking = reconcile(model, read_log(LISTED.format(op="SPLIT", taken=4, left=2))).listed_refusals
    assert [(each.op, each.in_model) for each in lacking] == [("ROUND", 1), ("SPLIT", 0)]
    other = LISTED.format(op="ROUND", taken=4, left=2).replace("Operation is not supported", "OP is supported, but not its type")
    (refusal,) = reconcile(model, read_log(other)).listed_refusals
    assert (refusal.is_same, refusal.has_same_reasons) == (True, False)
    assert (found.device.delegated, found.device.on_cpu) == (4, 2)


def test_refusals_and_counts_that_differ():
    model = chain("ADD", "RELU", "ADD", "ADD", "ROUND", "ADD")
    found = reconcile(model, read_log(LISTED.format(op="RELU", taken=5, left=1)))
    assert found.status == "unexplained"
    assert ["5 of 6" in found.differences[0], *[each.split()[-1] for each in found.differences[1:]]] == [True, "RELU", "ROUND"]


def test_an_operator_that_the_model_does_not_have_shows_another_model():
    found = reconcile(chain("ADD"), read_log(LISTED.format(op="WHERE", taken=0, left=1)))
    assert any("WHERE" in note for note in found.notes)


@pytest.mark.parametrize(
    ("count", "status"),
    [("0 nodes delegated out of 2 nodes with 0", "reproduced"), ("1 nodes delegated out of 2 nodes with 1", "unexplained")],
)
def test_a_count_of_the_delegate_itself(count, status):
    found = reconcile(chain("ROUND", "ROUND"), read_log(f"INFO: TfLiteHexagonDelegate delegate: {count} partitions.\n"))
    assert (found.setting.delegate.name, found.status) == ("hexagon", status)


def test_a_log_that_tells_nothing_of_the_outcome_is_not_compared():
    found = reconcile(chain("ADD"), read_log("INFO: Created TensorFlow Lite delegate for GPU.\n"))
    assert (found.status, found.account) == ("not-compared", None)
    assert found.device == Tally((), None, None, None, None)


def test_lines_of_another_kernel_say_nothing_about_the_delegate_that_is_asked_for():
    log = read_log("VERBOSE: Replacing 1 out of 2 node(s) with delegate (OTHER) node, yielding 2 partitions for subgraph 0.\n")
    found = reconcile(chain("ADD", "ADD"), log, setting_of(log, "gpu"))
    assert found.device == Tally(found.device.lines, None, None, None, None)
    assert any("OTHER" in note for note in found.notes)


def test_a_runtime_that_takes_what_the_newest_refuses_is_simulated():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    shape = (1, 1, 1, 2, 2)
    middle, result = graph.tensor("m", "FLOAT32", shape), graph.tensor("y", "FLOAT32", shape)
    graph.node("RELU", [graph.input("x", "FLOAT32", shape)], [middle])
    graph.node("LOGISTIC", [middle], [result])
    graph.outputs(result)
    model = delegate_sim.load(builder.bytes())
    log = read_log(write_log(model, Device(HiddenDriver(), {"feature_level": 29, "nnapi_runtime": "10"}), "desktop"))
    found = reconcile(model, log, setting_of(log, options={"feature_level": 29}))
    assert found.status == "reproduced"
    assert found.setting.options["nnapi_runtime"] == "10"
    assert any("android 13" in note for note in found.notes)
    known = setting_of(log, options={"feature_level": 29, "nnapi_runtime": "13"})
    assert reconcile(model, log, known).status == "unexplained"


REPLACED = "INFO: Replacing {} out of 2 node(s) with delegate ({}) node, yielding {} partitions for subgraph 0.\n"
ON_GPU, ON_DRIFT = REPLACED.format(2, "TfLiteGpuDelegateV2", 1), REPLACED.format(1, "LITERT_CL", 2)


@pytest.mark.parametrize(
    ("log", "failure"),
    [
        (f"{ON_GPU}ERROR: Failed to initialize kernel.\n", "Failed to initialize kernel."),
        (f"{ON_GPU}Segmentation fault\n", "Segmentation fault"),
        (f"{ON_GPU}Failed to allocate tensors!\n", "Failed to allocate tensors!"),
        (
            f"{ON_GPU}ERROR: Node number 2 (TfLiteGpuDelegateV2) failed to invoke.\n",
            "Node number 2 (TfLiteGpuDelegateV2) failed to invoke.",
        ),
        (ON_GPU, ""),
    ],
)
def test_a_failure_on_the_device_is_an_outcome(log, failure):
    found = reconcile(chain("ADD", "ADD"), read_log(log))
    assert (found.setting.delegate.name, found.failure) == ("gpu", failure)
    differences = (f"the model runs in the simulation, but fails on the device: {failure}",) if failure else ()
    assert (found.differences, found.status) == (differences, "unexplained" if failure else "reproduced")
    assert found.to_dict()["failure"] == (failure or None)


@pytest.mark.parametrize(
    ("last", "status"),
    [("", "reproduced"), ("ERROR: [jni.cc:79] Failed to create compiled model: ERROR: [a.h:1]\n", "explained")],
)
def test_a_compiled_model_that_is_not_created_because_a_node_needs_the_cpu(last, status):
    found = reconcile(chain("ADD", "L2_NORMALIZATION"), read_log(f"{ON_DRIFT}{last}"))
    assert found.status == status
    if found.account is not None:
        assert (found.account.options, found.account.is_certain) == ({"cpu_fallback": False}, False)
        assert found.run.refusal.code == "not-fully-accelerated"


@pytest.mark.parametrize("is_restored", [True, False])
def test_a_predicted_rejection_is_reproduced(is_restored):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [1, 4])
    weights = graph.tensor("w", "FLOAT32", [4, 8], [0.5] * 32)
    graph.node("FULLY_CONNECTED", [graph.input("x", "FLOAT32", [1, 1, 1, 4]), weights], [result], options={})
    graph.outputs(result)
    line = "Replacing 1 out of 1 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions for the whole graph.\n"
    log = read_log(f"{line}{'Restored original execution plan after delegate application failure.' if is_restored else ''}\n")
    found = reconcile(delegate_sim.load(builder.bytes()), log)
    assert (found.status, found.run.refusal.is_predicted) == ("reproduced", True)
    assert found.device.delegated == found.simulated.delegated == (0 if is_restored else 1)
    assert any("predicts a failure" in note for note in found.notes) != is_restored


REPORT = Path(__file__).resolve().parents[4] / "shared" / "repro" / "reports" / "07_linux_wheel_log_misread"


@pytest.mark.skipif(not REPORT.is_dir(), reason="../shared/repro is missing")
@pytest.mark.parametrize("name", ["real_k0_venv.log", "real_k0_v2.1.5.log"])
def test_a_kernel_that_fails_in_the_simulation_too_is_reproduced(name):
    """The runtime restores the plan on the device; in the simulation the model fails later, for the same reason."""
    found = reconcile(delegate_sim.load(str(REPORT / "drq_k0_100.tflite")), read_runs_file(str(REPORT / name))[-1])
    assert (found.status, found.setting.delegate.name, found.run.refusal.code) == ("reproduced", "mldrift", "mldrift-build-batch")


ARM_NN = "INFO: TfLiteArmnnDelegate: Created TfLite ArmNN delegate.\n"
REFUSES = (
    "WARNING: {0}: not supported by armnn: in validate_arguments {1}:44: no\nERROR: {0}: not supported by any specified backend\n"
)


@pytest.mark.parametrize(
    ("lines", "backends", "status"),
    [
        (REFUSES.format("GATHER", "src/core/NEON/kernels/NEGatherKernel.cpp"), ("CpuAcc",), "unexplained"),
        (REFUSES.format("TRANSPOSE", "src/cpu/kernels/K.cpp"), ("CpuAcc",), "reproduced"),
        ("", ("CpuRef",), "not-compared"),
        ("Error: ArmNN Failed to visit node with error: Invalid dimension index: 2\n", ("CpuRef",), "unexplained"),
    ],
)
def test_the_refused_operators_of_arm_nn_are_compared(lines, backends, status):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", (1, 2, 2, 2, 2)), graph.tensor("y", "FLOAT32", (1, 2, 2, 2, 2))
    graph.node("TRANSPOSE", [source, graph.tensor("order", "INT32", (5,), data=[0, 2, 3, 1, 4])], [result], options={})
    graph.outputs(result)
    found = reconcile(delegate_sim.load(builder.bytes()), read_log(f"{ARM_NN}{lines}"))
    assert (found.setting.delegate.name, found.setting.options["backends"], found.status) == ("armnn", backends, status)


@pytest.mark.parametrize(
    "text",
    [
        "External delegate path: [libarmnnDelegate.so]\nExternal delegate options: [backends:CpuAcc;logging-severity:info]\n",
        "Loading external delegate from libarmnnDelegate.so with args: {'backends': 'CpuAcc', 'logging-severity': 'info'}\n",
    ],
)
def test_the_options_of_an_external_delegate_are_those_of_the_log(text):
    setting = setting_of(read_log(f"STARTING!\n{text}{ARM_NN}"))
    assert setting.known == {"backends", "logging-severity"}
    assert (setting.options["backends"], setting.options["logging-severity"]) == (("CpuAcc",), "info")


@pytest.mark.parametrize(("operations", "status"), [(2, "reproduced"), (1, "unexplained")])
def test_the_operations_that_teflon_counts_are_compared(operations, status):
    log = f"Teflon delegate: loaded rocket driver\nteflon: compiling graph: 9 tensors {operations} operations\n"
    found = reconcile(detector_of_convolutions(), read_log(log))
    assert (found.status, found.device.delegated, found.device.kernels) == (status, operations, 1)
    assert {"driver": "rocket", "mesa": "main"}.items() <= found.setting.options.items()


def detector_of_convolutions():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last = graph.input("image", "INT8", (1, 4, 4, 2), scale=1.0, zero_point=0)
    for number in range(2):
        weights = graph.tensor(f"w{number}", "INT8", (2, 1, 1, 2), data=[1] * 4, scale=1.0, zero_point=0)
        bias = graph.tensor(f"b{number}", "INT32", (2,), data=[0, 0], scale=1.0, zero_point=0)
        result = graph.tensor(f"y{number}", "INT8", (1, 4, 4, 2), scale=1.0, zero_point=0)
        options = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
        graph.node("CONV_2D", (last, weights, bias), (result,), version=3, options=options)
        last = result
    graph.outputs(last)
    return delegate_sim.load(builder.bytes())


def test_a_delegate_that_the_device_could_not_create():
    log = (
        "INFO: STARTING!\nINFO: Use Hexagon: [1]\n"
        "WARNING: Failed to fetch Hexagon NN version. This might be because you're using incompatible versions.\n"
        "WARN: Could not create Hexagon delegate: platform may not support delegate\n"
    )
    found = reconcile(chain("ADD"), read_log(log))
    assert (found.status, found.account.kind) == ("not-compared", "not-created")
    assert "Failed to fetch Hexagon NN version" in found.account.text
    with pytest.raises(LearningError):
        learn(found, "log")


@pytest.mark.parametrize(("tensor", "status"), [(-1, "reproduced"), (99, "unexplained")])
def test_another_dynamic_tensor_is_a_difference(tensor, status):
    line = "Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors"
    end = f"(tensor#{tensor} is a dynamic-sized tensor)."
    log = read_log(f"INFO: Created TensorFlow Lite delegate for GPU.\nERROR: {line} {end}\n")
    assert reconcile(delegate_sim.load("fixtures/models/dynamic_reshape.tflite"), log).status == status


@pytest.mark.parametrize("start", ["ERROR: ", "W System.err: java.lang.IllegalArgumentException: Failed to apply delegate: "])
@pytest.mark.parametrize(("chosen", "name", "delegated"), [(None, "gpu", 0), ("gpu", "gpu", 0), ("xnnpack", "xnnpack", 2)])
def test_a_refusal_belongs_to_the_delegate_that_was_applied_before_the_default_one(start, chosen, name, delegated):
    model = delegate_sim.load("fixtures/models/dynamic_reshape.tflite")
    log = read_log(
        "INFO: Created TensorFlow Lite delegate for GPU.\n"
        f"{start}Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized "
        "tensors (tensor#5 is a dynamic-sized tensor).\n"
        "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
        "Replacing 2 out of 3 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions for subgraph 0.\n"
    )
    found = reconcile(model, log, setting_of(log, chosen))
    assert (found.setting.delegate.name, found.status, found.device.delegated) == (name, "reproduced", delegated)


def test_a_kernel_that_only_a_lower_minimum_makes():
    log = (
        "INFO: STARTING!\nINFO: Use Hexagon: [1]\nINFO: Hexagon delegate created.\nhexagon/src/newnode.c:413:node 3 (Add): bad "
        "input count 6\nERROR: Node number 1 (TfLiteHexagonDelegate) failed to prepare.\n"
        "ERROR: Restored original execution plan after delegate application failure.\nFailed to apply Hexagon delegate.\n"
    )
    found = reconcile(one_quantized_node(), read_log(log))
    assert (found.status, found.account.kind) == ("explained", "compilation")
    assert found.account.options == {"min_nodes_per_partition": 1}
    assert found.errors[0].kind == "vendor-error"


def one_quantized_node():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "UINT8", (1, 4, 4, 2), scale=1.0, zero_point=0)
    result = graph.tensor("y", "UINT8", (1, 8, 8, 2), scale=1.0, zero_point=0)
    size = graph.tensor("size", "INT32", (2,), data=[8, 8])
    graph.node("RESIZE_NEAREST_NEIGHBOR", (source, size), (result,), options={})
    graph.outputs(result)
    return delegate_sim.load(builder.bytes())


@pytest.mark.parametrize(("taken", "on_cpu"), [(25, 11), (36, 0)])
def test_kernels_of_an_earlier_delegate_are_no_nodes_on_the_cpu(taken, on_cpu):
    line = "Replacing {} out of {} node(s) with delegate ({}) node, yielding 2 partitions for the whole graph.\n"
    log = line.format(29, 65, "TfLiteGpuDelegateV2") + line.format(taken, 37, "TfLiteXNNPackDelegate")
    device_log = read_log(log)
    found = reconcile(chain("ADD"), device_log, setting_of(device_log, "xnnpack"))
    assert (found.device.delegated, found.device.on_cpu) == (taken, on_cpu)


def test_the_own_lines_of_a_simulation_that_undoes_the_delegation_disprove_no_limit():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tokens = graph.tensor("tokens", "FLOAT32", (1, 1, 8), data=[0.5] * 8)
    joined, rounded, result = [graph.tensor(name, "FLOAT32", (1, 5, 8)) for name in ("joined", "rounded", "result")]
    graph.node("CONCATENATION", (tokens, graph.input("x", "FLOAT32", (1, 4, 8))), (joined,), options={"axis": 1})
    graph.node("CEIL", (joined,), (rounded,))
    graph.node("ABS", (rounded,), (result,))
    graph.outputs(result)
    model = delegate_sim.load(builder.bytes())
    run = delegate_sim.analyze(model, "gpu").runs[0]
    assert run.outcome == "restored"
    found = reconcile(model, read_log("".join([f"INFO: {line}\n" for line in run.log_lines])))
    assert (found.status, found.run.outcome) == ("reproduced", "restored")
    assert list(causes(found).values()) == ["undecided", "refused", "limit"]
    assert not any("limit" in note or "allows" in note for note in found.notes)


DISPATCHED = (
    "INFO: Replacing 2 out of 5 node(s) with delegate (DispatchDelegate) node, yielding 3 partitions for subgraph 0 (main).\n"
)


@pytest.mark.parametrize(("dispatched", "is_after"), [("", False), (DISPATCHED, True)])
def test_a_delegate_that_gets_the_whole_model_although_a_plugin_selected_nodes(dispatched, is_after):
    selected = "INFO: Partitioned subgraph<0>, selected 2 ops, from a total of 5 ops. resulted in 2 partitions.\n"
    line = "INFO: Replacing 5 out of 5 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main).\n"
    log = read_log(selected + dispatched + line)
    found = reconcile(chain(*["TANH"] * 5), log, setting_of(log, "mldrift"))
    assert any("--soc" in note for note in found.notes) == is_after
    assert any("nothing ran on the NPU" in note for note in found.notes) != is_after
