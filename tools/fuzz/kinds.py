"""The table of the inputs other than models. Each kind has seeds, a change of their content, and the commands that read them."""

from __future__ import annotations

import functools
import io
import json
import os
import random
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

import delegate_sim
from delegate_sim.delegates.nnapi.device_profile import read_devices
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.scan.journal import Journal
from delegate_sim.scan.output import read_tables
from delegate_sim.scan.questions import VIEWS
from fixtures import op_profiles
from fixtures.bundles import LIBRARIES, aab, aar, apk, litertlm_bytes, tar_bytes, zip_bytes
from fixtures.device_logs import FORMS, Device, HiddenDriver, HiddenRule, write_log
from fixtures.language_models import bundle, decoder, embedder, encoder
from fixtures.runtime_logs import runtime_lines
from tools.fuzz import changes
from tools.fuzz.changes import Change, changed_text
from tools.fuzz.children import in_child
from tools.fuzz.targets import ARRAYS, LINK, THEN, TOOL, Step, run_program, steps

_OWN_MODEL = "model.tflite"
_ADDRESS_SPACE = 8 << 30
Files = Mapping[str, bytes]
Command = Sequence[str]
"""Words of a command line. ``{}`` is the input, ``{model}`` a model beside it, ``{out}`` a folder for outputs."""


class Seed(NamedTuple):
    """An input, and the files that have to be beside it. The name of the input is the first of ``files``."""

    files: Files
    given: str = ""
    """The file that commands are given in place of the input."""

    @property
    def name(self) -> str:
        """The name of the input."""
        return next(iter(self.files))

    @property
    def content(self) -> bytes:
        """The content of the input."""
        return self.files[self.name]


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    seeds: Callable[[], Sequence[Seed]]
    change: Change
    commands: Sequence[Command]


def _model_bytes(stem: str = "pooling") -> bytes:
    return Path("fixtures", "models", f"{stem}.tflite").read_bytes()


def _device() -> Device:
    return Device(HiddenDriver(HiddenRule("AVERAGE_POOL_2D")), {"feature_level": 30})


def _with_model(*files: tuple[str, bytes | str], given: str = "") -> Seed:
    """Return a seed with a model beside the files."""
    contents = {name: content.encode() if isinstance(content, str) else content for name, content in files}
    return Seed({**contents, _OWN_MODEL: _model_bytes()}, given)


def _written(files: Mapping[str, bytes | str], *commands: Sequence[str]) -> dict[str, bytes]:
    """Run commands in a folder with these files and a model, and return all files of the folder."""
    before = os.getcwd()
    content = {_OWN_MODEL: _model_bytes(), **files}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in content.items():
            Path(folder, name).write_bytes(data.encode() if isinstance(data, str) else data)
        try:
            os.chdir(folder)
            for command in commands:
                run_program(command)
        finally:
            os.chdir(before)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir()) if path.is_file()}


def _first(files: Files, name: str, given: str = "") -> Seed:
    """Return the seed whose input is one of the files."""
    return Seed({name: files[name], **files}, given)


def _archives() -> list[Seed]:
    files = {"models/m.tflite": _model_bytes(), "labels.txt": b"cat", "n.tflite": _model_bytes("pooling")}
    inner = zip_bytes({"inner.zip": zip_bytes(files), **files}, zipfile.ZIP_DEFLATED)
    archives = {
        "a.zip": zip_bytes(files),
        "b.apk": inner,
        "h.apk": apk(models=files),
        "i.aab": aab({"base": LIBRARIES}, uncompressed=False),
        "j.aar": aar(LIBRARIES),
        "c.task": zip_bytes({"TF_LITE_PREFILL_DECODE": decoder(), **files}),
    }
    tars = {
        "d.tar": tar_bytes(files),
        "e.tar.gz": tar_bytes(files, "w:gz"),
        "f.tar.bz2": tar_bytes(files, "w:bz2"),
        "g.tar.xz": tar_bytes(files, "w:xz"),
    }
    return [_with_model((name, content)) for name, content in {**archives, **tars}.items()]


def _changed_archive(generator: random.Random, content: bytes) -> bytes:
    change = changes.changed_zip if content[:2] == b"PK" else changes.changed_tar
    return change(generator, content)


def _litertlm() -> list[Seed]:
    bundles = (
        bundle(decoder()),
        bundle(decoder(), {"backend_constraint": "gpu"}, [(3, {"model_type": "tf_lite_embedder"}, embedder())]),
        bundle(decoder(), further=[(3, {"model_type": "tf_lite_vision_encoder"}, encoder())]),
        litertlm_bytes([(3, "m.tflite", _model_bytes()), (3, None, _model_bytes()), (42, {"name": "other"}, b"abc")]),
    )
    return [_with_model(("llm.litertlm", content)) for content in bundles]


_CONFIGURATION = """\
models = ["*.tflite"]
exclude = ["other/**"]
baseline = "delegate-sim-baseline.json"
runtime = ["tf-2.15", "litert-2.3"]

[budgets]
max-partitions = 11
min-delegated-share = "60 %"
forbid-fallback-ops = ["SOFTMAX"]
[budgets.tolerance]
border-bytes = "5 %"

[targets.phone]
delegate = "nnapi"
android = ["11", "13"]
models = ["model.tflite"]
options = { max_delegated_partitions = 3, driver = "driver.toml", devices = "devices.toml" }
[targets.tpu]
delegate = "npu-google"
options.op_filters = "filters.textproto"
[targets.board]
kind = "micro"
resolver = "main.cc"
max-arena = 20000

[[overrides]]
models = ["model*"]
targets = ["phone"]
max-fallback = 9
"""
_SMALL_CONFIGURATION = 'models = ["*.tflite"]\n[targets.one]\ndelegate = "nnapi"\n'
_PROJECT = (
    '[project]\nname = "x"\n[tool.delegate-sim]\nmodels = ["*.tflite"]\n[tool.delegate-sim.targets.one]\ndelegate = "gpu"\n'
)
_DEVICES = """\
schema = "delegate-sim/devices/1"
[[devices]]
name = "dsp"
feature_level = 30
execution = 0.2
power = 0.3
rejects = ["ABS", "TANH"]
types = ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"]
largest_bytes = 100000
[devices.performance]
TENSOR_FLOAT32 = [0.1, 0.2]
[[devices]]
name = "gpu"
feature_level = "1.2"
takes = ["MAX_POOL_2D", "AVERAGE_POOL_2D"]
cannot_compile = ["L2_POOL_2D"]
updatable = true
[[devices.refuses]]
operation = "MAX_POOL_2D"
types = ["TENSOR_FLOAT32"]
shapes = [[1, 4, 4, 2]]
"""
_FILTERS = """\
filter_behavior: MATCHES_RUN_ON_TPU
filters { op_name_pattern: "(conv|pool).*[0-9]+" }
filters: [{ op_name_pattern: "t\\\\d" }]
"""
_RESOLVER = """\
#define NAME "MyOp"
constexpr int kOps = 4;
#if 0
resolver.AddExp();
#elif defined(OTHER)
resolver.AddNeg(); // none
#else
tflite::MicroMutableOpResolver<kOps> resolver;
#endif
resolver.AddMaxPool2D(tflite::Register_MAX_POOL_2D_INT8());
/* resolver.AddTanh(); */ Log(R"x(resolver.AddElu();)x", 'c', 1'000);
resolver.AddCustom(NAME, &registration);
resolver.AddAveragePool2D();
"""


def _configuration() -> list[Seed]:
    files = (
        ("driver.toml", 'schema = "delegate-sim/driver/1"\n'),
        ("devices.toml", _DEVICES),
        ("filters.textproto", _FILTERS),
        ("main.cc", _RESOLVER),
        ("nets.py", "def f():\n    raise SystemExit('ran')\n"),
        ("click.py", "raise SystemExit('ran')\n"),
    )
    sources = '[sources.net]\nsource = "nets.py:f"\nsettings = "int8"\ndata = "nets.py"\npython = "nets.py"\n'
    own = "delegate-sim.toml"
    return [
        *[_with_model((own, text), *files) for text in (_CONFIGURATION, _SMALL_CONFIGURATION, _SMALL_CONFIGURATION + sources)],
        _with_model(("pyproject.toml", _PROJECT), *files),
    ]


def _checked() -> dict[str, bytes]:
    """Return a configuration, its baseline and the measured times beside it."""
    model = delegate_sim.load(_model_bytes())
    rows = op_profiles.profiled_rows(_device().run(model), op_profiles.ms_by_node(model))
    files: dict[str, bytes | str] = {
        "delegate-sim.toml": _SMALL_CONFIGURATION,
        "profile.txt": op_profiles.write_profile(rows),
    }
    return _written(files, ("check", "--update", "--op-profile", "profile.txt"))


def _baselines() -> list[Seed]:
    files = _checked()
    worse = {**files, _OWN_MODEL: _model_bytes("reductions")}
    return [_first(kept, "delegate-sim-baseline.json", "delegate-sim.toml") for kept in (files, worse)]


def _times() -> list[Seed]:
    files = _checked()
    worse = {**files, _OWN_MODEL: _model_bytes("reductions")}
    return [_first(kept, "delegate-sim-times.json", "delegate-sim.toml") for kept in (files, worse)]


def _logs() -> list[Seed]:
    model = delegate_sim.load(_model_bytes())
    logs = [write_log(model, _device(), form, has_refusals=True) for form in FORMS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "devices.toml")
        path.write_text(_DEVICES, "utf-8")
        run = Device(None, {"devices": read_devices(str(path)), "feature_level": 30}).run(model)
    tag = "11-20 12:00:00.000  1234  1234 I "
    logs.append("".join([f"{tag}{line}\n" for line in (*runtime_lines(run), *[f"tflite  : {line}" for line in run.log_lines])]))
    logs += [path.read_text("utf-8") for path in sorted(Path("fixtures/logs").glob("*.log"))]
    logs.append("".join(logs))
    return [_with_model(("device.log", log)) for log in logs]


def _op_profiles() -> list[Seed]:
    model = delegate_sim.load(_model_bytes())
    rows = op_profiles.profiled_rows(_device().run(model), op_profiles.ms_by_node(model))
    texts: list[bytes | str] = [op_profiles.write_profile(rows, form) for form in op_profiles.FORMS]
    messages = op_profiles.messages(rows)
    texts += [op_profiles.protobuf_message(name, content).SerializeToString() for name, content in messages.items()]
    files = (("delegate-sim.toml", _SMALL_CONFIGURATION), ("device.log", write_log(model, _device())))
    return [_with_model(("profile.txt", text), *files) for text in texts]


def _records() -> list[Seed]:
    """Return a record of runs, a matrix of operators and a profile of Qualcomm AI Hub."""
    environment = {"device": "Phone", "runtime": "litert", "runtime_version": "2.2.0"}
    run = {"accelerator": "gpu_mldrift", "loads": True, "runs": True, "env": environment, "provenance": "measured"}
    counts = {"delegated_ops": 1, "total_ops": 3, "output_match": False}
    entry = {"op": "MAX_POOL_2D", "status": "delegated", "provenance": "measured"}
    matrix = {"schema_version": "1.3", "litert_version": "2.2.0", "backend": "gpu_mldrift"}
    row = {"name": "0", "type": "MAX_POOL_2D", "compute_unit": "NPU"}
    documents = (
        {"schema_version": "1.0", "model_id": "m", "device": "phone", "artifact": _OWN_MODEL, "results": [run, run | counts]},
        {**matrix, "entries": [entry, entry | {"op": "GELU"}]},
        {"execution_summary": {}, "execution_detail": [row]},
    )
    return [_with_model(("record.json", json.dumps(document))) for document in documents]


def _drivers() -> list[Seed]:
    log = write_log(delegate_sim.load(_model_bytes()), _device())
    files = _written({"device.log": log}, ("reconcile", _OWN_MODEL, "--log", "device.log", "--learn", "driver.toml"))
    one_of = '[[rejects_one_of]]\n[[rejects_one_of.operations]]\noperation = "ADD"\ntypes = ["FLOAT32"]\nshapes = [[1, 4]]\n'
    more = {**files, "driver.toml": files["driver.toml"] + one_of.encode()}
    return [_first(kept, "driver.toml") for kept in (files, more)]


def _devices() -> list[Seed]:
    log = _logs()[len(FORMS)].content
    return [_with_model(("devices.toml", _DEVICES), ("device.log", log))]


def _resolvers() -> list[Seed]:
    configuration = 'models = ["*.tflite"]\n[targets.board]\nkind = "micro"\nresolver = "main.cc"\n'
    return [_with_model(("main.cc", _RESOLVER), ("delegate-sim.toml", configuration))]


def _filters() -> list[Seed]:
    configuration = 'models = ["*.tflite"]\n[targets.tpu]\ndelegate = "npu-google"\noptions.op_filters = "filters.textproto"\n'
    return [_with_model(("filters.textproto", _FILTERS), ("delegate-sim.toml", configuration))]


def _tables(suffix: str) -> list[Seed]:
    scan = ("scan", _OWN_MODEL, "other.tflite", "--delegate", "nnapi", "--delegate", "gpu", "--processes", "1")
    files = _written({"other.tflite": _model_bytes("reductions")}, (*scan, "-o", f"zoo.{suffix}"))
    return [_first(files, name, f"zoo.{suffix}") for name in files if name.startswith("zoo.")]


def _text_tables() -> list[Seed]:
    return [*_tables("csv"), *_tables("jsonl")]


def _journals() -> list[Seed]:
    """Return the journal of a scan that was killed after it simulated the model."""
    table = _tables("csv")[0]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in table.files.items():
            Path(folder, name).write_bytes(content)
        path = Path(folder, "zoo.csv.journal")
        journal = Journal(str(path))
        journal.take_over(read_tables(str(Path(folder, "zoo.csv"))))
        journal.close()
        return [_with_model((path.name, path.read_bytes()))]


def _links() -> list[Seed]:
    texts = (
        "delegate=nnapi&runtime=litert-2.3&defaults=benchmark&android=11&max_delegated_partitions=3",
        "delegate=soc&soc=google%3ATensor_G5&runtime=tf-2.15",
        "delegate=gpu&defaults=api&gpu_backend=opencl&driver=%2Fetc%2Fpasswd",
        "delegate=npu-google&op_filters=filters%20%7B%20op_name_pattern%3A%20%22conv%22%20%7D",
        "delegate=xnnpack",
    )
    return [_with_model(("link.txt", text)) for text in texts]


def _tool_calls() -> list[Seed]:
    """Return calls of the tools of the MCP server."""
    model = {"model": _OWN_MODEL}
    calls = (
        ("analyze", {**model, "delegate": "nnapi", "options": ["android=13"], "runtime": "tf-2.15"}),
        ("analyze", {"model": "a.zip!/m.tflite", "delegate": "npu-google", "options": ["op_filters=filters.textproto"]}),
        ("diagnose", {**model, "delegate": "all"}),
        ("compare", {**model, "other": "a.zip!/m.tflite", "delegate": "gpu"}),
        ("releases", {**model, "delegate": "nnapi", "options": ["devices=devices.toml"]}),
        ("rules", {"operator": "CONV_2D", "delegate": "gpu"}),
        ("explain", {"code": "nnapi-missing-bias"}),
        ("plan_fix", {**model, "delegate": "gpu"}),
    )
    files = (("a.zip", zip_bytes({"m.tflite": _model_bytes()})), ("filters.textproto", _FILTERS), ("devices.toml", _DEVICES))
    return [_with_model(("call.json", json.dumps({"tool": name, "arguments": given})), *files) for name, given in calls]


def _arrays() -> list[Seed]:
    from delegate_sim.inference.inputs import generated_inputs

    model = delegate_sim.load(_model_bytes())
    own = model.subgraphs[0]
    arrays = dict(zip([own.tensors[index].name for index in own.inputs], generated_inputs(model, own, 0, {}), strict=True))
    seeds = []
    writers: Sequence[Callable[..., None]] = (np.savez, np.savez_compressed)
    for write in writers:
        file = io.BytesIO()
        write(file, **arrays)
        seeds.append(_with_model(("inputs.npz", file.getvalue())))
    return seeds


_CHECKS: Sequence[Command] = (
    ("check", "--config", "{}"),
    ("check", "--config", "{}", "--verbose", "--format", "json"),
    ("check", "--config", "{}", "--report", "sarif={out}/report.sarif", "--report", "markdown={out}/report.md"),
    ("check", "--config", "{}", "--update", THEN, "check", "--config", "{}"),
    ("check", "--config", "{}", "--update", "--prune"),
)
_NNAPI = ("{model}", "--delegate", "nnapi")
_QUERIES: Sequence[Command] = (
    *[("query", "{}", "--view", name, "--format", form) for name, view in VIEWS.items() for form in ("text", "json")
      if not view.needs_earlier],
    *[("query", "{}", "{}", "--view", name, "--format", "csv") for name, view in VIEWS.items() if view.needs_earlier],
    ("query", "{}", "--sql", "SELECT * FROM runs", "--format", "csv"),
    ("query", "{}", "--sql", "SELECT * FROM causes", "--output", "{out}/answer.json", "--format", "json"),
    ("scan", "{model}", "--delegate", "gpu", "--processes", "1", "--output", "{}"),
)  # fmt: skip

KINDS: Mapping[str, Kind] = {
    "archive": Kind(
        _archives,
        _changed_archive,
        (
            ("inspect", "{}"),
            ("inspect", "{}!/models/m.tflite", "--format", "json"),
            ("analyze", "{}", "--delegate", "{delegate}"),
            ("analyze", "{}", "--format", "json"),
            ("diagnose", "{}", "--delegate", "{delegate}"),
            ("scan", "{}", "--delegate", "{delegate}", "--processes", "1", "--output", "{out}/zoo.csv"),
            ("scan", ".", "--delegate", "{delegate}", "--processes", "1", "--output", "{out}/zoo.jsonl"),
            (
                "export",
                "models",
                "{}",
                "--output",
                "{out}/parts",
                THEN,
                "export",
                "bundle",
                "{out}/parts",
                "-o",
                "{out}/new.task",
            ),
            ("fix", "{}", "--delegate", "{delegate}", "--no-proof", "-o", "{out}/fixed.task"),
            ("micro", "{}"),
        ),
    ),
    "litertlm": Kind(
        _litertlm,
        changes.changed_litertlm,
        (
            ("inspect", "{}"),
            ("inspect", "{}", "--format", "json", "--verbose"),
            ("analyze", "{}"),
            ("analyze", "{}", "--format", "json", "--option", "backend=gpu"),
            ("analyze", "{}", "--option", "prompt={prompt}", "--option", "vision=gpu", "--verbose"),
            ("analyze", "{}!/tf_lite_prefill_decode", "--delegate", "{delegate}"),
            ("diagnose", "{}", "--delegate", "{delegate}"),
            ("scan", "{}", "--delegate", "{delegate}", "--processes", "1", "--output", "{out}/zoo.csv"),
            (
                "export",
                "models",
                "{}",
                "--output",
                "{out}/parts",
                THEN,
                "export",
                "bundle",
                "{out}/parts",
                "-o",
                "{out}/new.litertlm",
            ),
            ("fix", "{}", "--delegate", "mldrift", "--no-proof", "-o", "{out}/fixed.litertlm"),
        ),
    ),
    "configuration": Kind(
        _configuration,
        changed_text(
            "a.", "[[overrides]]\n", "[targets.x]\n", "x = ", "{a = ", '"""', "'''", "1979-05-27", '["**"]', "\\u0000", "#"
        ),
        (*_CHECKS, ("analyze", "{model}"), ("diagnose", "{model}"), ("fix", "{model}", "--plan")),
    ),
    "baseline": Kind(_baselines, changes.changed_json, _CHECKS),
    "times": Kind(
        _times, changes.changed_json, (*_CHECKS[:3], ("check", "--config", "{}", "--update", "--op-profile", "profile.txt"))
    ),
    "log": Kind(
        _logs,
        changed_text(
            "a_", "(1234): ", "[", "TfLiteNnapiDelegate", "\t", "{", "delegate: ", "node ", "%", ", ", " 1 nodes ", "=" * 30
        ),
        (
            ("reconcile", "{model}", "--log", "{}"),
            ("reconcile", "{model}", "--log", "{}", "--format", "json", "--verbose"),
            ("reconcile", "{model}", "--log", "{}", "--run", "2"),
            ("reconcile", "{model}", "--log", "{}", "--learn", "{out}/driver.toml"),
            ("reconcile", "{model}", "--log", "{}", "--soc", "google:Tensor_G5"),
            ("reconcile", "{model}", "--log", "{}", "--log", "{}"),
            ("import-records", "{}", "--models", "{model}", "--verbose"),
            ("analyze", "{model}", "--op-profile", "{}"),
        ),
    ),
    "op-profile": Kind(
        _op_profiles,
        lambda generator, content: (
            changes.changed_json
            if content[:1] == b"{"
            else changed_text(",", "\t", "%", "[")
            if content.isascii()
            else changes.changed_bytes
        )(generator, content),
        (
            ("analyze", *_NNAPI, "--op-profile", "{}"),
            ("analyze", *_NNAPI, "--op-profile", "{}", "--format", "json", "--verbose"),
            ("diagnose", *_NNAPI, "--op-profile", "{}"),
            ("compare", *_NNAPI, "--with", "android=11", "--op-profile", "{}"),
            ("whatif", *_NNAPI, "--batch", "2", "--op-profile", "{}"),
            ("fix", *_NNAPI, "--plan", "--op-profile", "{}"),
            ("report", *_NNAPI, "--op-profile", "{}", "--output", "{out}/report.html"),
            ("reconcile", "{model}", "--log", "device.log", "--op-profile", "{}"),
            ("check", "--update", "--op-profile", "{}"),
        ),
    ),
    "record": Kind(
        _records,
        changes.changed_json,
        (
            ("import-records", "{}", "--models", "{model}"),
            ("import-records", "{}", "--models", "{model}", "--delegate", "gpu", "--verbose", "--format", "json"),
        ),
    ),
    "driver": Kind(
        _drivers,
        changed_text("a.", "[[seen]]\n", "[[rejects]]\n", "[[rejects_one_of.operations]]\n", "{a = ", '"""', "9" * 400),
        (
            ("analyze", *_NNAPI, "--driver", "{}"),
            ("diagnose", *_NNAPI, "--driver", "{}", "--format", "json"),
            ("reconcile", "{model}", "--log", "device.log", "--learn", "{}"),
            ("reconcile", "{model}", "--log", "device.log", "--driver", "{}", "--delegate", "nnapi"),
        ),
    ),
    "devices": Kind(
        _devices,
        changed_text("a.", "[[devices]]\n", "[[devices.refuses]]\n", "{a = ", '"""', "9" * 400, "performance."),
        (
            ("analyze", *_NNAPI, "--devices", "{}"),
            ("diagnose", *_NNAPI, "--devices", "{}", "--format", "json"),
            (
                "reconcile",
                *_NNAPI,
                "--log",
                "device.log",
                "--feature-level",
                "30",
                "--devices",
                "{}",
                "--learn",
                "{out}/phone.toml",
            ),
            ("reconcile", *_NNAPI, "--log", "device.log", "--devices", "{}"),
        ),
    ),
    "resolver": Kind(
        _resolvers,
        changed_text(
            "#if 0\n",
            "#if X\n",
            "#else\n",
            "#elif 1\n",
            "#endif\n",
            'R"(',
            ')"',
            "/*",
            "*/",
            "//",
            "\\\n",
            "AddElu(",
            "Add<",
            "'",
        ),
        (
            ("micro", "{model}", "--resolver", "{}"),
            ("micro", "{model}", "--resolver", "{}", "--format", "json"),
            ("diagnose", "{model}", "--micro", "--resolver", "{}"),
            ("fix", "{model}", "--micro", "--resolver", "{}", "--plan"),
            ("check",),
        ),
    ),
    "filters": Kind(
        _filters,
        changes.changed_patterns,
        (
            ("analyze", "{model}", "--delegate", "npu-google", "--option", "op_filters={}"),
            ("analyze", "{model}", "--delegate", "npu-google", "--option", "op_filters={text}", "--format", "json"),
            ("diagnose", "{model}", "--delegate", "npu-google", "--option", "op_filters={}"),
            ("check",),
        ),
    ),
    "table": Kind(_text_tables, changed_text(",", '"', '""', "\r\n", "{", ":", "\0", "zoo"), _QUERIES),
    "sqlite": Kind(functools.partial(_tables, "sqlite"), changes.changed_sqlite, _QUERIES),
    "parquet": Kind(functools.partial(_tables, "parquet"), changes.changed_parquet, _QUERIES),
    "journal": Kind(
        _journals,
        changed_text(",", '"', "[", "]", "\n", "null", "1e999", "\\u0000", '["stored"]\n', '["runs", '),
        (("scan", "{model}", "--delegate", "nnapi", "--processes", "1", "-o", "zoo.csv"),),
    ),
    "link": Kind(
        _links,
        changed_text("&", "=", "%", "%00", "%0a", "%ED%A0%80", "+", "delegate=", "android=", "#"),
        ((LINK, "{text}", "{model}"), (LINK, "{text}", "{model}"), (LINK, "{text}", "other.tflite")),
    ),
    "tool": Kind(_tool_calls, changes.changed_json, ((TOOL, "{text}"),)),
    "arrays": Kind(_arrays, changes.changed_zip, ((ARRAYS, "{}", "{model}"),)),
}


@functools.cache
def seeds_of(kind: str) -> Sequence[Seed]:
    """Return the seeds of a kind. A process of its own writes them, so that libraries of tables do not stay in memory."""
    seeds = in_child(lambda: list(KINDS[kind].seeds()), _ADDRESS_SPACE).result
    if not seeds:
        raise RuntimeError(f"the seeds of the kind {kind} could not be written")
    return seeds


def chosen(kind: str, own: str) -> tuple[Seed, bytes]:
    """Return a seed and its mutant."""
    generator = random.Random(f"{own}:{kind}")
    seed = generator.choice(seeds_of(kind))
    return seed, KINDS[kind].change(generator, seed.content)


_PROMPTS = ("Hello", "", "ab" * 32_000, "a b" * 10_000, "\u2581" * 60_000)


def input_steps(seed: Seed, content: bytes, commands: Sequence[Command], generator: random.Random, folder: str) -> list[Step]:
    """Write a mutant and what has to be beside it to a folder, choose a command at random, and return its steps.

    Outputs have a folder of their own, ``out``.
    """
    for name, data in {**seed.files, seed.name: content}.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    os.mkdir(os.path.join(folder, "out"))
    words = {
        "model": _OWN_MODEL,
        "out": "out",
        "delegate": generator.choice(DELEGATE_NAMES),
        "prompt": generator.choice(_PROMPTS),
        "text": content[:100_000].decode("utf-8", "replace"),
    }
    command = [word.format(seed.given or seed.name, **words) for word in generator.choice(commands)]
    return steps(command, generator)
