"""Each cell of the matrix of commands and kinds of targets: the command takes the target, or it refuses it with a line."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from delegate_sim_cli.main import _COMMANDS, program
from fixtures.language_models import bundle, decoder, embedder
from tools.docs.command_matrix import KINDS, MATRIX

MODELS = Path(__file__).parents[3] / "fixtures" / "models"
LOG = "INFO: Replacing 7 out of 7 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions for subgraph 0.\n"
REFUSALS = (
    *("No such option", "cannot be simulated", "unexpected extra argument"),
    *("takes a string", "are known for one copy", "has no delegate; ", "is a bundle that holds 2 models"),
)
WITHOUT_TARGETS = {"import-records", "sweep", "reduce", "query", "init", "explain", "doctor", "mcp"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrix")
    shutil.copy(MODELS / "quantized_block.tflite", folder / "model.tflite")
    shutil.copy(MODELS / "mobilenet_block.tflite", folder / "other.tflite")
    parts = [(3, {"model_type": "tf_lite_embedder"}, embedder())]
    (folder / "llm.litertlm").write_bytes(bundle(decoder(), further=parts))
    (folder / "device.log").write_text(LOG)
    for name, models, table in (
        ("delegate", "model.tflite", '[targets.cpu]\ndelegate = "xnnpack"'),
        ("micro", "model.tflite", '[targets.board]\nkind = "micro"'),
        ("bundle", "llm.litertlm", '[targets.gpu]\ndelegate = "mldrift"'),
        ("chain", "model.tflite", '[targets.all]\ndelegate = ["gpu", "xnnpack"]'),
        ("accelerators", "model.tflite", '[targets.all]\naccelerators = ["gpu", "cpu"]'),
    ):
        (folder / f"{name}.toml").write_text(f'models = ["{models}"]\nbaseline = "{name}.json"\n{table}\n')
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("command", "kind"), [(command, kind) for command in MATRIX for kind in KINDS])
def test_a_cell(folder, monkeypatch, command, kind):
    cell = MATRIX[command][kind]
    if not cell.gap and (kind == "live" or command == "verify"):
        pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'live'")
        pytest.importorskip("ethosu.vela", reason="needs the extra vela")
        if os.name != "posix":
            pytest.skip("real code is run on POSIX systems only")
    words = cell.arguments.split()
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(program, [command, *words, *(["--force"] if "-o" in words and command != "scan" else [])])
    if cell.gap:
        assert result.exit_code == 2
        assert any(message in result.output for message in REFUSALS), result.output
    else:
        assert result.exit_code in (0, 1), result.output


def test_the_matrix_has_all_commands():
    assert MATRIX.keys() == _COMMANDS.keys() - WITHOUT_TARGETS
    assert all(cells.keys() == KINDS.keys() for cells in MATRIX.values())
