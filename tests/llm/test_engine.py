"""The checks of LiteRT-LM's engine, in order: each case is a bundle and what the engine does with it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.errors import ModelError, OptionError
from fixtures.builder import ModelBuilder
from fixtures.language_models import bundle, decoder, embedder, encoder, metadata

SHARED = Path(__file__).resolve().parents[3] / "shared"
GPU, NPU = {"backend": "gpu"}, {"backend": "npu"}
NO_DECODE = decoder(decode=None)
MODEL = decoder()
RANK5 = decoder(operators={"decode": ["RESHAPE5"]})
CUSTOM = decoder(operators={"decode": ["MyOp"]})
EMBEDDED = decoder(names={"tokens": "embeddings"})
CUSTOM_PREFILL = decoder(operators={"prefill_16": ["MyOp"]})
VISION = "tf_lite_vision_encoder"
BARS = {"outcomes": 99, "stages": 99, "errors": 95, "lines": 99, "crashes": 100}
"""The least share of equal answers in percent, by measure."""


def with_header(content, at, value, size=8):
    """Return a bundle with a number in its first bytes changed."""
    return content[:at] + value.to_bytes(size, "little") + content[at + size :]


def without_padding(content):
    """Return a bundle whose last section is MODEL without the zeros behind it."""
    return content[: -(-len(MODEL) % 16384)]


def constrained(constraint, key="backend_constraint"):
    return bundle(MODEL, {key: constraint})


def unlisted():
    """Return a model with a signature that does not name the input of its subgraph."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("ABS", [source], [result])
    graph.outputs(result)
    builder.signature("decode", graph, {}, {"y": result})
    return builder.bytes()


CASES = {
    "starts on the CPU": (bundle(MODEL), {}, "starts", None, None),
    "starts on the GPU": (bundle(MODEL), GPU, "starts", None, None),
    "starts on the NPU without a plugin": (bundle(MODEL), NPU, "starts", None, None),
    "backends in upper case": (bundle(MODEL), {"backend": "CPU"}, "starts", None, None),
    "unknown backend": (bundle(MODEL), {"backend": "tpu"}, "refused", "engine", "Unsupported backend: tpu. Supported backends"),
    "cpu_artisan": (bundle(MODEL), {"backend": "cpu_artisan"}, "refused", "engine", "Unsupported backend: 1"),
    "empty file": (b"", {}, "refused", "engine", "Failed to map"),
    "wrong magic number": (b"LITERTLX" + bytes(64), {}, "refused", "engine", "failed to read: LITERTLX"),
    "other file": (b"TOKEN=abcdef" * 9, {}, "refused", "engine", "Invalid magic number or failed to read"),
    "cut in the version": (b"LITERTLM\x01", {}, "refused", "engine", "Failed to read version bytes"),
    "other format version": (with_header(bundle(MODEL), 8, 2, 4), {}, "refused", "engine", "version 2, expected version 1."),
    "later minor version": (with_header(bundle(MODEL), 12, 99, 4), {}, "starts", None, None),
    "header ends too early": (with_header(bundle(MODEL), 24, 31), {}, "refused", "engine", "smaller than current position"),
    "header ends behind the file": (
        with_header(bundle(MODEL), 24, 1 << 40),
        {},
        "refused",
        "engine",
        "Failed to read header data",
    ),
    "header is cut": (with_header(bundle(MODEL), 24, 40), {}, "crash", "engine", None),
    "model type without prefix": (
        bundle(further=[(3, "decoder", MODEL)]),
        {},
        "refused",
        "engine",
        "Unknown model type: decoder",
    ),
    "no metadata": (bundle(MODEL, about=None), {}, "crash", "engine", None),
    "damaged metadata": (bundle(MODEL, about=b"\xff"), {}, "refused", "engine", "Failed to parse LlmMetadata"),
    "signature that lacks an input": (bundle(unlisted()), {}, "refused", "engine", "Failed to load model from buffer"),
    "unknown data type": (bundle(MODEL, further=[(42, None, b"abc")]), {}, "starts", None, None),
    "the last section of a type counts": (
        bundle(NO_DECODE, further=[(3, "tf_lite_prefill_decode", MODEL)]),
        {},
        "starts",
        None,
        None,
    ),
    "constraint": (constrained("gpu"), {}, "refused", "engine", "requires one of [gpu] but Main backend is CPU"),
    "constraint with spaces": (constrained("cpu, gpu"), GPU, "refused", "engine", "one of [cpu, gpu] but Main backend is GPU"),
    "empty constraint": (constrained(""), {}, "refused", "engine", "requires one of [] but"),
    "constraint in upper case": (constrained("GPU", "Backend_Constraint"), GPU, "starts", None, None),
    "constraint before a damaged model": (
        bundle(bytes(64), {"backend_constraint": "npu"}),
        {},
        "refused",
        "engine",
        "one of [npu]",
    ),
    "tokenizer before the constraint without a model type": (
        bundle(MODEL, {"backend_constraint": "npu"}, about=metadata(family=None), pieces=None),
        {},
        "refused",
        "engine",
        "No tokenizer found",
    ),
    "constraint of an encoder that is not asked for": (
        bundle(MODEL, further=[(3, {"model_type": VISION, "backend_constraint": "npu"}, encoder())]),
        {},
        "starts",
        None,
        None,
    ),
    "constraint of an encoder that is asked for": (
        bundle(MODEL, further=[(3, {"model_type": VISION, "backend_constraint": "npu"}, encoder())]),
        {"vision": "cpu"},
        "refused",
        "engine",
        "Vision backend constraint mismatch",
    ),
    "unknown activation type": (
        bundle(MODEL, {"prefer_activation_type": ""}),
        {},
        "refused",
        "engine",
        "activation data type: .",
    ),
    "folder for the cache": (
        bundle(MODEL),
        {"cache_dir": "/no-such-folder/x"},
        "refused",
        "engine",
        "Cache directory does not exist",
    ),
    "artisan decoder beside the model": (
        bundle(MODEL, further=[(3, "tf_lite_artisan_text_decoder", MODEL)]),
        GPU,
        "crash",
        "engine",
        None,
    ),
    "artisan decoder without metadata": (
        bundle(further=[(3, "tf_lite_artisan_text_decoder", MODEL)]),
        GPU,
        "refused",
        "engine",
        "Failed to get metadata: odml.infra.proto.LlmParameters",
    ),
    "artisan decoder without padding": (
        without_padding(bundle(further=[(3, "tf_lite_artisan_text_decoder", MODEL)])),
        GPU,
        "refused",
        "engine",
        "might not have enough padding",
    ),
    "no model": (bundle(), {}, "refused", "engine", "tf_lite_prefill_decode not found in the model."),
    "model behind the end of the file": (
        without_padding(bundle(MODEL))[:-1],
        {},
        "refused",
        "engine",
        "tf_lite_prefill_decode not found",
    ),
    "damaged model": (bundle(bytes(64)), {}, "refused", "engine", "Invalid flatbuffer"),
    "no decode": (bundle(NO_DECODE), {}, "refused", "engine", "Signature not found: decode"),
    "no prefill": (bundle(decoder(prefill={})), {}, "refused", "engine", "must include decode and an available prefill"),
    "wrong names of caches": (
        bundle(decoder(names={"kv_cache_k_0": "past_k_0", "kv_cache_v_0": "past_v_0"})),
        {},
        "refused",
        "engine",
        "No KV cache inputs found.",
    ),
    "caches of values missing": (bundle(decoder(names={"kv_cache_v_0": "v_0"})), {}, "refused", "engine", "prefix: kv_cache_v_"),
    "no positions": (bundle(decoder(names={"input_pos": None})), {}, "refused", "engine", "Input tensor not found"),
    "no logits": (bundle(decoder(names={"logits": "out"})), {}, "refused", "engine", "Output logits not found."),
    "logits of two dimensions": (bundle(decoder(logits=[1, 16])), {}, "refused", "engine", "must be (batch, seq, vocab)"),
    "caches that leave by another name": (
        bundle(decoder(names={"kv_cache_k_0_out": "new_k_0"})),
        GPU,
        "refused",
        "engine",
        "Output tensor not found: kv_cache_k_0",
    ),
    "rank 5 on the CPU": (bundle(RANK5), {}, "starts", None, None),
    "rank 5 on the GPU": (bundle(RANK5), GPU, "refused", "engine", "Failed to modify graph with delegate"),
    "custom operator on the GPU": (bundle(CUSTOM), GPU, "refused", "engine", "Failed to modify graph with delegate"),
    "custom operator on the CPU": (bundle(CUSTOM), {}, "starts-then-fails", "decode", "Failed to allocate tensors"),
    "no tokenizer": (bundle(MODEL, pieces=None), {}, "refused", "engine", "No tokenizer found in the model"),
    "damaged tokenizer": (bundle(MODEL, pieces=b"\xff"), {}, "refused", "engine", "ParseFromString"),
    "executor before the tokenizer": (bundle(NO_DECODE, pieces=None), {}, "refused", "engine", "Signature not found: decode"),
    "no stop tokens": (bundle(MODEL, about=metadata(stop=False)), {}, "starts-then-fails", "session", "Stop tokens are required"),
    "no encoder": (bundle(MODEL), {"vision": "cpu"}, "starts-then-fails", "session", f"{VISION} not found in the model."),
    "encoder of five channels": (
        bundle(MODEL, further=[(3, VISION, encoder(5))]),
        {"vision": "cpu"},
        "starts-then-fails",
        "session",
        "3 or 4 channels but got 5",
    ),
    "encoder with a custom operator on the GPU": (
        bundle(MODEL, further=[(3, VISION, encoder(custom="MyOp"))]),
        {"vision": "gpu"},
        "starts-then-fails",
        "session",
        "Failed to modify graph with delegate",
    ),
    "encoder on the GPU": (bundle(MODEL, further=[(3, VISION, encoder())]), {"vision": "gpu"}, "starts", None, None),
    "no mask": (bundle(decoder(names={"mask": "bias"})), {}, "starts-then-fails", "prefill", "tokens allowed: 12 >= 1"),
    "few tokens": (bundle(MODEL), {"kw": {"max_num_tokens": 4}}, "starts-then-fails", "prefill", "tokens allowed: 12 >= 4"),
    "long prompt": (bundle(MODEL), {"prompt": "ab" * 80}, "starts-then-fails", "prefill", "tokens allowed: 81 >= 64"),
    "a custom operator in prefill": (
        bundle(CUSTOM_PREFILL),
        {"prompt": "abab"},
        "starts-then-fails",
        "prefill",
        "Failed to allocate",
    ),
    "a prompt of one token runs no prefill": (
        bundle(CUSTOM_PREFILL, about=metadata(start=False)),
        {"prompt": "ab"},
        "starts",
        None,
        None,
    ),
    "no embedder": (bundle(EMBEDDED), {}, "starts-then-fails", "prefill", "No embeddings found in inputs."),
    "embedder of two tokens": (
        bundle(MODEL, further=[(3, "tf_lite_embedder", embedder(tokens=2))]),
        {},
        "refused",
        "engine",
        "Input tensor bytes must be 4 but got 8",
    ),
    "longer prefill than caches": (
        bundle(decoder(prefill={"prefill_128": 128})),
        {},
        "starts-then-fails",
        "prefill",
        "Chosen prefill work group size exceeds available state entries (64).",
    ),
    "caches of another size in decode": (
        bundle(decoder(decode_context=32)),
        {},
        "starts-then-fails",
        "decode",
        "Cannot auto-resize tensor kv_cache_k_0",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_engine(saved, case):
    content, given, outcome, stage, error = CASES[case]
    options = dict(given)
    report = delegate_sim.analyze_bundle(saved("llm.litertlm", content), options.pop("backend", "cpu"), options)
    assert (report.outcome, report.stage) == (outcome, stage)
    assert error is None or error in report.error
    assert json.loads(json.dumps(report.to_dict()))["outcome"] == outcome


def test_a_refusal_names_the_node_and_the_gpus_reasons(saved):
    stop = delegate_sim.analyze_bundle(saved("llm.litertlm", bundle(RANK5)), "gpu").stop
    assert (stop.section, stop.signature, stop.operator) == ("tf_lite_prefill_decode", "decode", "RESHAPE")
    assert any("Tensor dimensions must be less than 5" in reason for reason in stop.reasons)


@pytest.mark.parametrize(("family", "partitions"), [(1, 5), (8, 5)])
def test_the_lines_of_a_model(saved, family, partitions):
    path = saved("llm.litertlm", bundle(MODEL, about=metadata(family=family)))
    lines = delegate_sim.analyze_bundle(path).replacements
    assert [(line.name, line.delegate) for line in lines] == [(key, "TfLiteXNNPackDelegate") for key in ("prefill_16", "decode")]
    assert all(line.replaced <= line.nodes and line.partitions <= partitions for line in lines)


def test_a_file_that_is_not_there():
    with pytest.raises(ModelError, match=r"no-such\.litertlm"):
        delegate_sim.analyze_bundle("no-such.litertlm")


@pytest.mark.parametrize(("backend", "options"), [(1, None), ("cpu", 1)])
def test_wrong_arguments(saved, backend, options):
    with pytest.raises(OptionError, match="must be a"):
        delegate_sim.analyze_bundle(saved("llm.litertlm", bundle(MODEL)), backend, options)


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "oracle-llm").exists(), reason="the recorded runs (../shared) are not here")
def test_the_recorded_runs_of_the_engine(capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location("llm_conformance", SHARED / "tools" / "llm_conformance.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    monkeypatch.setattr("sys.argv", ["llm_conformance", "--min", "0"])
    tool.main()
    out = capsys.readouterr().out
    shares = {measure: float(share) for measure, share in re.findall(r"(\w+) (\d+\.\d+)%", out.splitlines()[0])}
    assert shares.keys() == BARS.keys(), out
    assert {measure: share for measure, share in shares.items() if share < BARS[measure]} == {}, out


@pytest.mark.parametrize(
    ("content", "backend", "outcome", "stage", "error"),
    [
        (bundle(MODEL, about=None), "cpu", "refused", "engine", "NOT_FOUND: LlmMetadata not found in the model file."),
        (bundle(CUSTOM), "cpu", "refused", "engine", "Failed to allocate tensors"),
        (bundle(MODEL), "cpu", "starts", None, None),
    ],
)
def test_the_development_build(saved, content, backend, outcome, stage, error):
    found = delegate_sim.analyze_bundle(saved("llm.litertlm", content), backend, runtime="litert-lm-0.19").to_dict()
    assert (found["outcome"], found["stage"], found["error"]) == (outcome, stage, error)
