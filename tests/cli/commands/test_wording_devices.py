"""Sentences about logs of Android's runtime and of several accelerators, for people."""

from __future__ import annotations

STACK = "INFO: Replacing 3 out of 3 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main).\n"


def test_devices_in_words(run, phone_model, phone_log, tmp_path):
    phone = tmp_path / "phone.toml"
    learned = run("reconcile", phone_model, "--log", phone_log, "--learn", phone).stdout
    options = ("--delegate", "nnapi", "--devices", phone, "--option", "disable_nnapi_cpu=false")
    texts = learned + run("analyze", phone_model, *options).stdout
    for part in (
        "dsp: does not take ABS, TANH",
        "gpu: does not take TANH",
        "step 0 on dsp: RELU 1 [0]",
        "step 1 on gpu: ABS 1 [1]",
        "step 2 on nnapi-reference: TANH 1 [2]",
    ):
        assert part in texts, part


def test_what_the_runtime_compiled_is_shown_without_the_model(run, phone_log):
    shown = " ".join(run("explain", "--log", phone_log).stdout.split())
    assert "compiled 3 operations; 3 steps: 1 operation on dsp; 1 operation on gpu; 1 operation on nnapi-reference" in shown
    assert "dsp does not accept 1 ABS, 1 TANH" in shown


def test_accelerators(run, phone_model, tmp_path):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", phone_model, "--log", path, "--accelerators", "gpu,cpu")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "--- gpu (mldrift): as simulated ---" in result.stdout
    asked = run("reconcile", phone_model, "--log", path, "--soc", "MT6991")
    assert "npu (npu-mediatek): requested, but the log does not show that it was applied" in asked.stdout


def test_the_right_delegate_is_offered(run, phone_model, tmp_path):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", phone_model, "--log", path, "--delegate", "gpu")
    assert result.exit_code == 1
    assert "Not compared: the log belongs to another delegate" in result.stdout
    assert "give --delegate mldrift" in " ".join(result.stdout.split())
