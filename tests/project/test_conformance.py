"""Verdicts of the real delegates' own code over public and converted models, on a fixed sample.

The recorded verdicts lie beside the repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import random
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.api.arguments import targets_with
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.foundation.columns import entry
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.results.report.report import RUN_ENTRY
from delegate_sim.runtime.interpreter import simulate

SHARED = Path(__file__).resolve().parents[3] / "shared"
TOOL = SHARED / "tools" / "conformance.py"
SAMPLE = {"real": 40, "keras": 25, "fuzz": 700}
"""The number of models. ``make conformance`` compares all."""
MOST_RECORDS = 6
"""The number of records of a model, each with other options. NNAPI has up to 50."""
COUNTED = {"nodes", "kinds", "lines", "refusals", "messages"}

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="the recorded verdicts (../shared) are not here")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("conformance", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOT_THE_TRUTH = {
    ("xnnpack", "fuzz"): {"SLICE/00042_f32.tflite", "SLICE/00069_f32.tflite", "CUSTOM/00051_f32.tflite"},
    ("armnn", "keras"): {f"ctl_nested.{kind}.tflite" for kind in ("dyn.tf215", "dyn.tf221", "f32.tf221")},
    ("teflon", "keras"): {
        *(f"crnn_ocr.{kind}.tf221.tflite" for kind in ("dyn", "f32")),
        *(f"text_gru.{kind}.tf221.tflite" for kind in ("f16", "flex_tl")),
        *(f"text_gru_unrolled.{kind}.tflite" for kind in ("dyn.tf215", "f32.tf215", "f32.tf221", "int8.tf215", "int8.tf221")),
        "centernet_nms.int8.tf221.tflite",
    },
    ("teflon", "real"): {
        "google-ai-edge+LiteRT/recommendation_cnn_i10i32o100.tflite",
        "ricardodeazambuja+LibrEdgeTPU/pattern_64x64_8x8_1ch.tflite",
    },
}
"""Models whose records do not say what the delegate does with the file; docs/learned.md has the reason of each entry."""

DELEGATE_ALONE = {"nnapi": {"android": "none"}}
"""Options without a stage behind the delegate, which the records do not have."""


SCORED = ("partitioned", "restored", "dynamic-tensors")


def is_simulated(record):
    """Whether no backend of Arm NN is named that is not simulated."""
    return "GpuAcc" not in record["options"].get("backends", "")


class Corpus:
    """The models of an archive, each read once. Delegates share what does not depend on them, as in an overview."""

    def __init__(self, name, files):
        self.name = name
        self.files = files
        self.known = {}

    def model(self, name):
        if name not in self.known:
            self.known[name] = delegate_sim.load(self.files.read(name)), AnalysisCache()
        return self.known[name]


@pytest.fixture(scope="module", params=SAMPLE)
def corpus(request):
    archive = SHARED / "corpus" / f"{request.param}.zip"
    if not archive.exists():
        pytest.skip(f"{archive.name} is not in ../shared")
    with zipfile.ZipFile(archive) as files:
        yield Corpus(request.param, files)


def runs_of(model, cache, targets):
    """Return a run of a report for each target."""
    for target in targets:
        yield entry(RUN_ENTRY, simulate(model, target, cache=cache))


def only_validated(delegate, record):
    """Whether a record is of NNAPI's Validate alone, never applied to an interpreter, so that its outcome says nothing.

    Where such a record has a twin that was applied with the same options and the limit that is NNAPI's default, the twin is
    "restored" for every model whose kernels cannot be built; both can only be right if the outcome of the first is none.
    """
    return delegate == "nnapi" and "max_number_delegated_partitions" not in record["options"]


def messages(record, run):
    """Compare the GPU delegate's message about each refused node with the recorded one."""
    reasons = {(subgraph["index"], node["index"]): node["reasons"] for subgraph in run["subgraphs"] for node in subgraph["nodes"]}
    for subgraph in record["subgraphs"]:
        for index, (message,) in (subgraph["failures"] or {}).items():
            found = [] if subgraph["supported"][int(index)] else reasons.get((subgraph["index"], int(index)), [])
            for reason in found[:1]:
                said = "" if reason["code"] == "float16-dequantize" else reason["kind"]
                yield "messages", said == message, f"node {index}: expected {message!r}, got {said!r}"


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_a_sample_agrees_with_the_real_delegate(tool, delegate, corpus):
    folders = [SHARED / oracle / delegate for oracle in ("oracle", "oracle-embedded", f"oracle-{delegate}")]
    oracle = next((folder for folder in folders if folder.exists()), folders[0]) / f"{corpus.name}.jsonl.gz"
    if not oracle.exists():
        pytest.skip(f"no recorded verdicts of {delegate} over {corpus.name}")
    grouped = tool.read_oracle(oracle)
    drawn = random.Random(7)
    names = drawn.sample(sorted(grouped), min(SAMPLE[corpus.name], len(grouped)))
    compared, differences = Counter(), []

    @functools.cache
    def target(options):
        named = {**tool.named(delegate, json.loads(options)), **DELEGATE_ALONE.get(delegate, {})}
        return targets_with(None, delegate, named, None, "api", False)[0]

    for name in sorted(set(names) - NOT_THE_TRUTH.get((delegate, corpus.name), set())):
        scored = [record for record in grouped[name] if record["outcome"] in SCORED and is_simulated(record)]
        if not scored:
            continue
        scored = drawn.sample(scored, min(MOST_RECORDS, len(scored)))
        targets = [target(json.dumps(record["options"])) for record in scored]
        for record, run in zip(scored, runs_of(*corpus.model(name), targets), strict=True):
            for count, equal, what in (*tool.compare(record, run), *(messages(record, run) if delegate == "gpu" else ())):
                if count not in COUNTED or (count == "refusals" and only_validated(delegate, record)):
                    continue
                compared[count] += 1
                if not equal:
                    differences.append(f"{count}: {name} {record['options']}: {what}")
    assert compared["nodes"] > 600
    assert not differences, "\n".join(differences[:20])


@pytest.mark.parametrize(
    ("model", "options", "runtime", "line"),
    [
        (
            ("real", "mobilenet_v1_0.25_224_quant.tflite"),
            {},
            "tf-2.15",
            "Replacing 31 out of 31 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for the whole graph.",
        ),
        (
            ("keras", "distilbert_batch8.dyn_unfold.tf215.tflite"),
            {"feature_level": 30, "max_number_delegated_partitions": 0},
            "tf-2.10",
            "Replacing 2028 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 62 partitions.",
        ),
        (
            ("keras", "distilbert_batch8.f32_unfold.tf215.tflite"),
            {"feature_level": 30, "max_number_delegated_partitions": 0},
            "litert-2.3",
            "Replacing 3217 out of 3223 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 13 partitions "
            "for subgraph 0 (main).",
        ),
    ],
    ids=["mobilenet", "distilbert dynamic range", "distilbert float"],
)
def test_the_public_lines(model, options, runtime, line):
    corpus, name = model
    with zipfile.ZipFile(SHARED / "corpus" / f"{corpus}.zip") as files:
        path = next(path for path in files.namelist() if path.endswith(name))
        report = delegate_sim.analyze(files.read(path), "nnapi", options, runtime=runtime, defaults="api")
    assert report.to_dict()["runs"][0]["log_lines"] == [line]


def test_the_public_story_refuses_fully_connected_for_its_version():
    with zipfile.ZipFile(SHARED / "corpus" / "keras.zip") as files:
        content = files.read("distilbert_batch8.dyn_unfold.tf215.tflite")
    report = delegate_sim.analyze(content, "nnapi", {"feature_level": 30, "max_number_delegated_partitions": 0}, defaults="api")
    nodes = report.to_dict()["runs"][0]["subgraphs"][0]["nodes"]
    assert len(nodes) == 3224
    refused = [node for node in nodes if node["op"] == "FULLY_CONNECTED" and not node["supported"]]
    assert len(refused) == 1190
    assert {tuple(reason["kind"] for reason in node["reasons"]) for node in refused} == {("kUnsupportedOperatorVersion",)}
