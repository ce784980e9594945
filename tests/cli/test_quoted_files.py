"""No output quotes the content of a file that is given for another purpose, such as a file with a token."""

from __future__ import annotations

import json
import re

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, LIVE_ONLY_NAMES, find_live
from delegate_sim.gate.baseline_content import packed
from tests.support.baseline_entries import OUTLINE
from tests.support.models import chain_model

MARK = "SeCrEtMaRk"
SHORT = "~^"
"""A mark that is found even if only the first bytes of a file are quoted."""
BASELINE = {
    "model": "m.tflite", "target": "t", "outcome": "delegated", "nodes": 3, "delegated_nodes": 2, "partitions": 1,
    "delegate_kernels": 1, "border_bytes": 4, "fallback": [[0, "nnapi-operator", "2"]], "delegate": "nnapi", "options": {},
    "runtime": "litert-2.3", "defaults": "api", "rule_set": "0", "tool": "0", "sha256": "ab",
}  # fmt: skip


def baseline(changes, models=None):
    models = [["ab", packed(OUTLINE)]] if models is None else models
    return json.dumps({"schema": "delegate-sim/baseline/2", "entries": [{**BASELINE, **changes}], "models": models})


CONTENTS = {
    "text": f"TOKEN={MARK}\n",
    "short": SHORT * 16,
    "environment": f"PATH=/bin\0TOKEN={MARK}\0",
    "key": f"{MARK} = 1\n",
    "value": f'key = "{MARK}"\n',
    "twice": f"[{MARK}]\n[{MARK}]\n",
    "string": f'a = "{MARK}\\q"\n',
    "schema": f'schema = "{MARK}"\n',
    "json": json.dumps({"schema": MARK, MARK: [MARK]}),
    "broken json": f'{{"{MARK}": {MARK}',
    "json text": json.dumps(MARK),
    "python": f"def {MARK}(:\n",
    "filters": f'filters {{ op_name_pattern: "a" {MARK}: 1 }}',
    "filter text": f"{{ {MARK} }}",
    "latin": f"{MARK} \xe9\xff".encode("latin-1"),
    "utf-16": b"\xff\xfe" + MARK.encode("utf-16-le") + b"\x00",
    "binary": b"\x0a\x10" + MARK.encode() + b"\0\x01\x02",
    "zip": b"PK\x03\x04" + MARK.encode(),
    "model": b"\x10\0\0\0TFL3" + MARK.encode() * 3,
    "numbers": b"\x93NUMPY\x01\x00" + MARK.encode(),
    "sqlite": b"SQLite format 3\0" + MARK.encode(),
}
DRIVERS = {
    name: f'schema = "delegate-sim/driver/1"\n{text}'
    for name, text in {
        "key": f"{MARK} = 1",
        "accelerator": f"accelerator = ['{MARK}']",
        "rank": f"[[rejects]]\noperation = 'ADD'\nrank = '{MARK}'",
        "rejected key": f"[[rejects]]\noperation = 'ADD'\n{MARK} = 1",
        "shapes": f"[[rejects]]\noperation = 'ADD'\nshapes = [['{MARK}']]",
        "types": f"[[rejects]]\noperation = 'ADD'\ntypes = '{MARK}'",
        "table": f"rejects = '{MARK}'",
        "logs": f"[[seen]]\noperation = 'ADD'\ntypes = []\nshapes = []\naccepted = true\nlogs = ['{MARK}']",
    }.items()
}
DEVICES = {
    name: f'schema = "delegate-sim/devices/1"\n[[devices]]\n{text}'
    for name, text in {
        "key": f"name = 'a'\nfeature_level = 30\n{MARK} = 1",
        "level": f"name = 'a'\nfeature_level = '{MARK}'",
        "cost": f"name = 'a'\nfeature_level = 30\nexecution = '{MARK}'",
        "twice": f"name = '{MARK}'\nfeature_level = 30\n[[devices]]\nname = '{MARK}'\nfeature_level = 30",
        "operation": f"name = 'a'\nfeature_level = 30\ntakes = ['{MARK}']",
        "type": f"name = 'a'\nfeature_level = 30\ntypes = ['{MARK}']",
        "performance": f"name = 'a'\nfeature_level = 30\nperformance = {{ {MARK} = 1 }}",
        "costs": f"name = 'a'\nfeature_level = 30\nperformance = {{ FLOAT32 = ['{MARK}'] }}",
        "refused": f"name = 'a'\nfeature_level = 30\n[[devices.refuses]]\noperation = '{MARK}'",
    }.items()
}
BASELINES = {
    "outcome": baseline({"outcome": MARK}),
    "range": baseline({"fallback": [[0, "a", MARK]]}),
    "group": baseline({"fallback": [[MARK, MARK, MARK]]}),
    "count": baseline({"nodes": MARK}),
    "digest": baseline({"sha256": MARK}),
    "outline": baseline({}, [[MARK, MARK]]),
    "pair": baseline({}, [MARK]),
    "list": baseline({"fallback": MARK}),
    "other schema": json.dumps({"schema": MARK}),
    "old": json.dumps({"schema": "delegate-sim/baseline/1", "entries": [], "models": {MARK: MARK}}),
}
TARGET = "[targets.t]\ndelegate = 'nnapi'\n"
CONFIGURED = """\
models = ["m.tflite"]
[targets.t]
delegate = "{delegate}"
options = {{ {option} = "secret" }}
"""
EVERY_DELEGATE = [*DELEGATE_NAMES, *LIVE_ONLY_NAMES]
PATH_OPTIONS = [(name, option.key) for name in EVERY_DELEGATE for option in find_live(name).options if option.is_path]
FORMATS = ("text", "json", "markdown", "github", "sarif", "junit", "gitlab", "csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a model, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    chain_model(["RELU", "ADD"]).write(tmp_path / "m.tflite")
    return tmp_path


@pytest.fixture
def quotes(folder, run):
    """Write the secret file, run a command, and return the outputs and written files that quote the secret."""

    def quotes(content, *arguments):
        (folder / "secret").write_bytes(content if isinstance(content, bytes) else content.encode())
        before = set(folder.rglob("*"))
        result = run(*arguments)
        assert result.exit_code in (0, 1, 2), (arguments, result.exit_code, result.output)
        written = [path for path in set(folder.rglob("*")) - before if path.is_file()]
        texts = [result.stdout, result.stderr, *[path.read_text("utf-8", "replace") for path in written]]
        for path in written:
            path.unlink()
        return [text for text in texts if MARK in text or SHORT in text]

    return quotes


def commands(*forms):
    """Yield a command line for each flag and argument that names a file, in some formats."""
    for form in forms:
        end = ("--format", form)
        yield from [("analyze", "m.tflite", "--delegate", name, "--option", f"{key}=secret", *end) for name, key in PATH_OPTIONS]
        yield "analyze", "secret", *end
        yield "analyze", "m.tflite", "--op-profile", "secret", *end
        yield "diagnose", "m.tflite", "--micro", "--resolver", "secret", *end
        yield "diagnose", "m.tflite", "--op-profile", "secret", *end
        yield "fix", "m.tflite", "-o", "fixed.tflite", "--force", "--data", "secret", *end
        yield "fix", "m.tflite", "--plan", "--micro", "--resolver", "secret", *end
        yield "verify", "m.tflite", "m.tflite", "--data", "secret", *end
        yield "compare", "m.tflite", "secret", *end
        yield "micro", "m.tflite", "--resolver", "secret", *end
        yield "micro", "secret", *end
        yield "reconcile", "m.tflite", "--log", "secret", *end
        yield "reconcile", "m.tflite", "--log", "secret", "--learn", "learned.toml", *end
        yield "import-records", "secret", "--models", "m.tflite", *end
        yield "explain", "--log", "secret", "-v", *end
        yield "inspect", "secret", *end
        yield "sweep", "secret", *end
        yield "query", "secret", *end
        yield "releases", "secret", *end
        yield "whatif", "secret", "--delegate", "nnapi", *end
    yield "scan", "secret", "-o", "scan.csv"
    yield "report", "m.tflite", "--op-profile", "secret", "-o", "page.html"
    yield "report", "m.tflite", "--micro", "--resolver", "secret", "-o", "page.html"
    yield from [("check", "--config", "secret", "--format", form) for form in FORMATS]


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTENTS)
def test_no_command_quotes_a_file(quotes, name):
    # The formats differ in the place of an error, not in its words.
    forms = FORMATS[:2] if name in ("text", "value") else FORMATS[:1]
    assert {arguments: quoted for arguments in commands(*forms) if (quoted := quotes(CONTENTS[name], *arguments))} == {}


@pytest.mark.parametrize("suffix", ["litertlm", "task", "zip", "tar.gz", "csv", "jsonl", "sqlite", "parquet", "npz", "keras"])
def test_no_command_quotes_a_file_with_a_suffix(quotes, folder, suffix):
    name = f"secret.{suffix}"
    (folder / name).write_text(SHORT * 16)
    named = {
        tuple([name if word == "secret" else word for word in words]) for words in commands(*FORMATS[:2]) if "secret" in words
    }
    assert {arguments: quoted for arguments in named if (quoted := quotes("", *arguments))} == {}


def test_every_option_with_a_path_is_known():
    assert {key for _, key in PATH_OPTIONS} == {"driver", "devices", "op_filters"}


@pytest.mark.slow
@pytest.mark.parametrize(("delegate", "option"), PATH_OPTIONS)
def test_no_check_quotes_a_file_that_the_configuration_names(quotes, folder, delegate, option):
    (folder / "delegate-sim.toml").write_text(CONFIGURED.format(delegate=delegate, option=option), encoding="utf-8")
    forms = [argument for form in FORMATS[1:] for argument in ("--report", f"{form}=report.{form}")]
    contents = {**CONTENTS, **{"driver": DRIVERS, "devices": DEVICES, "op_filters": {}}[option]}
    for update in ((), ("--update",)):
        for name, content in contents.items():
            assert not quotes(content, "check", *update, *forms), name
    for command in ("analyze", "diagnose", "releases"):
        assert not quotes(CONTENTS["environment"], command, "m.tflite"), command


@pytest.mark.parametrize("flag", ["--driver", "--devices"])
def test_no_profile_is_quoted(quotes, flag):
    for name, content in (DRIVERS if flag == "--driver" else DEVICES).items():
        assert not quotes(content, "analyze", "m.tflite", "--delegate", "nnapi", flag, "secret"), name


@pytest.mark.parametrize("name", [*CONTENTS, *BASELINES])
def test_no_baseline_is_quoted(quotes, folder, name):
    text = f'models = ["m.tflite"]\nbaseline = "secret"\n{TARGET}'
    (folder / "delegate-sim.toml").write_text(text, encoding="utf-8")
    assert not quotes({**CONTENTS, **BASELINES}[name], "check")


def times(**changes):
    return json.dumps({"schema": "delegate-sim/times/1", "entries": [{"model": "m", "target": "t", "date": "1", **changes}]})


@pytest.mark.parametrize(
    "content",
    [
        MARK,
        json.dumps({"schema": MARK}),
        times(**{MARK: MARK}),
        times(kernels=MARK, operators=MARK),
        times(kernels={}, operators={MARK: {"count": MARK, "ms": MARK}}),
    ],
)
def test_no_file_of_measured_times_is_quoted(quotes, folder, content):
    (folder / "delegate-sim.toml").write_text(f'models = ["m.tflite"]\n{TARGET}', encoding="utf-8")
    (folder / "delegate-sim-times.json").write_text(content, encoding="utf-8")
    assert not quotes("", "check")


def configurations(value):
    """Yield configurations with a value, or an unknown key, in each place."""
    for key in (
        "models",
        "exclude",
        "baseline",
        "runtime",
        "defaults",
        "required-version",
        "budgets",
        "overrides",
        "sources",
        MARK,
    ):
        yield f"{key} = {value}\n{TARGET}"
    yield f"targets = {value}\n"
    for key in ("models", "targets", "max-partitions", MARK):
        yield f"{TARGET}[[overrides]]\n{key} = {value}\n"
    yield f"[targets.t]\ndelegate = {value}\n"
    for key in ("kind", "runtime", "defaults", "options", "android", "assume-ops-registered", "own-resolver", "budgets", MARK):
        yield f"{TARGET}{key} = {value}\n"
    for key in ("resolver", "kernels", "max-arena", "models", MARK):
        yield f"[targets.t]\nkind = 'micro'\n{key} = {value}\n"
    yield f"{TARGET}[sources.s]\nsource = {value}\n"
    for key in ("settings", "data", "converter", "python", "time-limit", "memory-limit", MARK):
        yield f"{TARGET}[sources.s]\nsource = 'm.keras'\n{key} = {value}\n"
    for key in ("max-partitions", "min-delegated-share", "forbid-fallback-ops", "tolerance", MARK):
        yield f"{TARGET}[budgets]\n{key} = {value}\n"
    for key in ("partitions", "border-bytes", "delegated-share", MARK):
        yield f"{TARGET}[budgets.tolerance]\n{key} = {value}\n"
    for name in EVERY_DELEGATE:
        for key in [option.key for option in find_live(name).options]:
            yield f"[targets.t]\ndelegate = '{name}'\noptions = {{ {key} = {value} }}\n"
        yield f"[targets.t]\ndelegate = '{name}'\noptions = {{ {MARK} = 1 }}\n"


@pytest.mark.parametrize("value", [f"'{MARK}'", f"['{MARK}']", f"{{ {MARK} = '{MARK}' }}", f"[['{MARK}']]"])
def test_no_faulty_value_of_a_configuration_is_quoted(quotes, folder, value):
    for text in configurations(value):
        (folder / "delegate-sim.toml").write_text(f"{text}\n", encoding="utf-8")
        # The output may show the names of targets, sources and models, and the path of a missing file.
        faults = [output for output in quotes("", "check") if re.search(r"delegate-sim\.toml:\d+: ", output)]
        faults = [
            text for text in faults if not re.search(rf"{MARK}: No such file or directory$|(targets|sources)\.{MARK}: ", text)
        ]
        assert not faults, text
