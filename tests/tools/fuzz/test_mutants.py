"""A hundred mutants, always the same, and those that once went wrong, through every delegate and some commands."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.errors import ModelError
from delegate_sim.model.reader import load
from tools.fuzz.mutate import large_model, mutant, pushed_together, random_model
from tools.fuzz.networks import long_network, network
from tools.fuzz.sites import ELEMENT, LENGTH, NUMBER, OFFSET, VTABLE, sites
from tools.fuzz.targets import run_command, run_delegates, run_program

ROOT = Path(__file__).parents[3]
FIXTURES = sorted((ROOT / "fixtures" / "models").glob("*.tflite"))
KNOWN = sorted((ROOT / "tests" / "hostile").glob("*.tflite"))
SEEDS = [path.read_bytes() for path in FIXTURES]


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_what_once_went_wrong(path):
    content = path.read_bytes()
    run_delegates(content, random.Random(path.stem), len(DELEGATE_NAMES))
    for number in range(2):
        run_command(content, random.Random(f"{path.stem}{number}"))


@pytest.mark.parametrize(
    ("stem", "command"),
    [
        ("2195e42179", ["scan", "{}", "--delegate", "npu-intel", "--output", "{folder}/found.csv"]),
        ("5aea093e3a", ["diff", "{}", "{}"]),
        ("6f6221bf95", ["inspect", "{}"]),
        ("8b3d7db428", ["diff", "{}", "{}"]),
        ("c4815fd50f", ["diagnose", "{}", "--delegate", "coreml"]),
        ("6a5d2b64e4", ["diff", "{}", "{}"]),
        ("976847da35", ["diff", "{}", "{}"]),
        ("5b1bb6baab", ["fix", "{}", "--delegate", "nnapi", "--no-proof", "-o", "{folder}/fixed.tflite"]),
        ("6faac5f091", ["diagnose", "{}", "--delegate", "nnapi"]),
        ("4fcb56af2d", ["report", "{}", "--delegate", "nnapi", "-o", "{folder}/page.html"]),
        ("a19258daac", ["diagnose", "{}", "--delegate", "hexagon"]),
        ("080fc89aa1", ["fix", "{}", "--delegate", "vx-nxp", "--force", "--no-proof", "-o", "{folder}/fixed.tflite"]),
        ("4240afd208", ["fix", "{}", "--delegate", "vx", "--force", "--no-proof", "-o", "{folder}/fixed.tflite"]),
        ("cfa9b40352", ["fix", "{}", "--delegate", "vx", "--force", "--no-proof", "-o", "{folder}/fixed.tflite"]),
        ("afdf023333", ["fix", "{}", "--delegate", "gpu", "--plan", "--verbose"]),
        ("ff2bfa834d", ["diagnose", "{}", "--delegate", "vx", "--format", "json"]),
        ("f3173a0f49", ["report", "{}", "--delegate", "npu-intel", "-o", "{folder}/page.html"]),
    ],
)
def test_commands_that_once_went_wrong(tmp_path, stem, command):
    path = ROOT / "tests" / "hostile" / f"{stem}.tflite"
    run_program([part.format(path, folder=tmp_path) for part in command])


@pytest.mark.parametrize("make", [large_model, long_network])
def test_models_of_many_nodes(make):
    content = make(random.Random(1))
    assert content == make(random.Random(1))
    run_delegates(content, random.Random(1), 2)
    run_command(content, random.Random(1))


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_mutants(first):
    for number in range(first, first + 40):
        generator = random.Random(f"tests:{number}")
        content = mutant(generator, SEEDS)
        run_delegates(content, generator, 3)
        if number % 8 == 0:
            run_command(content, generator)


def test_the_same_number_gives_the_same_mutant():
    assert mutant(random.Random("a"), SEEDS) == mutant(random.Random("a"), SEEDS)
    assert mutant(random.Random("a"), SEEDS) != mutant(random.Random("b"), SEEDS)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_every_part_of_the_format_is_a_site(path):
    content = path.read_bytes()
    found = sites(content)
    assert {site.kind for site in found} >= {OFFSET, VTABLE, LENGTH, NUMBER, ELEMENT}
    assert {"Operator.1", "SubGraph.3", "Tensor.0"} <= {site.field for site in found}
    assert all(0 <= site.position < len(content) for site in found)


def _changed_fixture(generator):
    return pushed_together(generator, generator.choice(SEEDS))


@pytest.mark.parametrize("make", [random_model, network, _changed_fixture])
def test_most_models_can_be_read(make):
    readable = 0
    for number in range(100):
        try:
            load(make(random.Random(number)))
        except ModelError:
            continue
        readable += 1
    assert readable > 80


def test_networks_give_weights_of_a_few_bytes_huge_sizes():
    greatest = 0
    for number in range(40):
        graph = load(network(random.Random(number))).subgraphs[0]
        greatest = max([greatest, *[max(tensor.shape, default=0) for tensor in graph.tensors if tensor.data is not None]])
    assert greatest >= 1 << 30


def test_a_finding_with_a_lone_surrogate_is_printed(tmp_path):
    code = """
import sys
from pathlib import Path
from tools.fuzz.findings import Finding, Findings
finding = Finding("1:5", "error", "in \\ud800", b"content")
Findings(Path(sys.argv[1])).add(finding, lambda finding: finding.content)
"""
    result = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True)
    assert "\\ud800" in result.stdout
    assert sorted(path.suffix for path in tmp_path.rglob("*.t*")) == [".tflite", ".txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="mutants run in forked processes")
def test_a_mutant_that_goes_wrong_is_found(monkeypatch):
    from tools.fuzz import __main__ as fuzz

    def failing(content, generator, delegates):
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(fuzz, "run_delegates", failing)
    batch = fuzz.run_batch(["1:5", "1:6", "1:7"], SEEDS, 1)
    assert batch.mutants == 1
    assert (batch.finding.seed, batch.finding.what) == ("1:5", "error")
    assert batch.finding.content == mutant(random.Random("1:5"), SEEDS)


@pytest.mark.skipif(sys.platform == "win32", reason="mutants run in forked processes")
def test_a_mutant_that_ends_its_process_is_known(monkeypatch):
    from tools.fuzz import __main__ as fuzz

    def dying(content, generator, delegates):
        if content == mutant(random.Random("1:7"), SEEDS):
            os._exit(3)

    monkeypatch.setattr(fuzz, "run_delegates", dying)
    batch = fuzz.library_batch(["1:5", "1:6", "1:7", "1:8"], SEEDS, 1)
    assert batch.mutants == 3
    assert (batch.finding.seed, batch.finding.what) == ("1:7", "crash")
    assert batch.finding.content == mutant(random.Random("1:7"), SEEDS)
