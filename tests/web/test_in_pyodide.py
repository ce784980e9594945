"""The Python of the browser application, run by Node.js: the same answers as the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fixtures.bundles import zip_bytes
from tools.web.equality import of_command_line
from tools.web.in_pyodide import pyodide

pytestmark = pytest.mark.slow
FOLDER = Path("fixtures/models").resolve()
MODELS = ("mobilenet_block", "transformer_block", "several_subgraphs", "quantized_block", "cannot_prepare", "external_buffers")
LARGE = 65 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of models: some fixtures, a file that is too large to be read as a whole, and a bundle of this size."""
    folder = tmp_path_factory.mktemp("models")
    for name in (*MODELS, "slicing"):
        shutil.copy(FOLDER / f"{name}.tflite", folder)
    block = (FOLDER / "mobilenet_block.tflite").read_bytes()
    for name, content in (("large.tflite", block), ("large.task", zip_bytes({"m.tflite": block, "weights": bytes(LARGE)}))):
        with open(folder / name, "wb") as file:
            file.write(content)
            file.truncate(max(len(content), LARGE))
    return folder


@pytest.fixture(scope="module")
def browser(application, folder):
    with pyodide(application, folder) as browser:
        yield browser


@pytest.mark.parametrize(
    "name", [*[f"{name}.tflite" for name in MODELS], "large.tflite", "large.task!/m.tflite", "missing.tflite"]
)
def test_the_json_of_all_delegates_is_the_same(browser, folder, name):
    command = ["analyze", f"{folder}/{name}", "--delegate", "all", "--format", "json"]
    answer = browser.run(command)
    assert answer["needs"] is None
    assert (answer["exit"], answer["output"], answer["error"]) == of_command_line(command)


@pytest.mark.parametrize("form", ["text", "markdown", "github", "sarif", "junit", "gitlab", "csv"])
def test_the_other_formats_are_the_same(browser, folder, form):
    command = ["analyze", f"{folder}/mobilenet_block.tflite", "--delegate", "nnapi", "--format", form]
    answer = browser.run(command)
    assert (answer["exit"], answer["output"], answer["error"]) == of_command_line(command)


@pytest.mark.parametrize(
    "command",
    [
        ["analyze", "mobilenet_block.tflite"],
        ["diagnose", "several_subgraphs.tflite", "--delegate", "nnapi"],
        ["compare", "mobilenet_block.tflite", "transformer_block.tflite", "--delegate", "gpu"],
        ["releases", "mobilenet_block.tflite"],
        ["micro", "mobilenet_block.tflite"],
        ["analyze", "mobilenet_block.tflite", "--soc", "pixel10"],
    ],
    ids=" ".join,
)
def test_other_commands_answer_the_same(browser, folder, command):
    command = [f"{folder}/{part}" if part.endswith(".tflite") else part for part in command]
    answer = browser.run(command)
    assert (answer["exit"], answer["output"], answer["error"]) == of_command_line(command)


def test_a_report_is_written_without_the_package_that_places_nodes(browser, folder):
    answer = browser.run(["report", f"{folder}/mobilenet_block.tflite", "--delegate", "nnapi", "-o", "/out/report.html"])
    assert (answer["exit"], answer["error"]) == (0, "")
    assert "/out/report.html: 1 view" in answer["output"]


def test_a_model_that_needs_numpy_says_so(browser, folder):
    answer = browser.run(["analyze", f"{folder}/slicing.tflite"])
    assert (answer["exit"], answer["needs"]) == (2, "numpy")
    assert answer["error"] == f"error: {folder}/slicing.tflite: this model needs the package numpy, which is not installed"
