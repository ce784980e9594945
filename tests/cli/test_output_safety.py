"""One hostile model through every command and format; terminals, runners, browsers and readers of each format are the judges."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import xml.etree.ElementTree
import zipfile
from pathlib import Path

import pyte
import pytest
from markdown_it import MarkdownIt

from delegate_sim import analyze, load
from delegate_sim_cli.formats import FORMATS
from tests.support.cli.hostile_output import DELEGATE, NAMES, rendered, write_hostile_model
from tests.support.cli.runner_commands import commands


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return write_hostile_model()


OWN_COMMANDS = ("::error ", "::warning ", "::notice ", "::group::", "::endgroup::")

NONE = str(Path(__file__).parents[2] / "fixtures" / "models" / "mobilenet_block.tflite")
COMMANDS = (
    ("analyze",),
    ("analyze", *DELEGATE),
    ("analyze", *DELEGATE, "--verbose"),
    ("analyze", *DELEGATE, "--delegate", "gpu", "--assume-ops-registered"),
    ("analyze", "--accelerators", "npu,gpu,cpu", "--soc", "google:Tensor_G5"),
    ("diagnose", *DELEGATE, "--assume-ops-registered"),
    ("diagnose", *DELEGATE, "--delegate", "gpu", "--verbose"),
    ("inspect",),
    ("inspect", *DELEGATE, "--lowered", "--assume-ops-registered"),
    ("releases", *DELEGATE),
    ("compare", *DELEGATE, "--with", "delegate=gpu", "--verbose"),
    ("whatif", *DELEGATE, "--accept", "COS", "--verbose"),
    ("whatif", *DELEGATE, "--search", "1"),
    ("fix", "--delegate", "nnapi", "--plan", "--verbose"),
    ("reconcile", "--log", "hostile.log", "--delegate", "gpu", "--verbose"),
)
ALONE = (
    ("explain", "--log", "hostile.log", "--verbose"),
    ("check", "--update"),
    ("check", "--verbose"),
    ("scan", "hostile.tflite", "hostile.zip", *DELEGATE, "--processes", "1", "--output", "scan.csv"),
    ("query", "scan.csv", "--sql", "SELECT * FROM causes"),
    ("query", "scan.csv", "--sql", "SELECT model, error FROM runs"),
    ("report", "hostile.tflite", *DELEGATE, "--output", "report.html"),
    ("analyze", "hostile.zip", *DELEGATE),
    ("analyze", "hostile.zip!/nothing\x1b[31m\n::error::", *DELEGATE),
)
"""Commands; each may need the files that those before it wrote."""
EXPORTS = ("json", "dot", "graphml", "model-explorer")


def write_others(model):
    """A log, an archive and a configuration that hold the same names."""
    with open("hostile.log", "w", encoding="utf-8", errors="replace") as log:
        log.write("INFO: Created TensorFlow Lite delegate for GPU.\n")
        log.write("Following operations are not supported by GPU delegate:\n")
        log.writelines(f"{name}: {name}\n" for name in NAMES)
        log.write("9 operations will run on the GPU, and the remaining 11 operations will run on the CPU.\n")
        log.write("INFO: Replacing 9 out of 20 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 9 partitions")
        log.writelines(f" {name}\nERROR: {name}\n" for name in NAMES)
    with open(model, "rb") as file, zipfile.ZipFile("hostile.zip", "w") as archive:
        content = file.read()
        for name in NAMES[:-1]:
            entry = zipfile.ZipInfo("x")
            entry.filename = name.replace("\ud7ff", "")
            archive.writestr(entry, content)
    with open("delegate-sim.toml", "w", encoding="utf-8") as file:
        file.write('models = ["*.tflite"]\n[targets.one]\ndelegate = "nnapi"\n')


def texts(run, model):
    write_others(model)
    given = [(command, model, *options) for command, *options in COMMANDS]
    for arguments in (*given, *ALONE):
        result = run(*arguments)
        assert result.exit_code in (0, 1, 2), result.output
        assert result.exception is None or isinstance(result.exception, SystemExit), arguments
        yield " ".join(arguments), result.stdout + result.stderr


@pytest.mark.slow
def test_terminals_and_runners(run, model):
    for what, text in texts(run, model):
        assert commands(text) == [], what
        lines = text.split("\n")
        screen = pyte.Screen(max(map(len, lines)) + 1, len(lines) + 1)
        pyte.Stream(screen).feed("\r\n".join(lines))
        assert (screen.title, screen.cursor.hidden) == ("", False), what
        assert [line.rstrip() for line in screen.display[: len(lines)]] == [line.rstrip() for line in lines], what
        shown = [cell for row in screen.buffer.values() for cell in row.values()]
        assert {cell.fg for cell in shown} <= {"default"}, what


def test_a_terminal_would_notice():
    screen = pyte.Screen(40, 2)
    pyte.Stream(screen).feed(NAMES[0])
    assert (screen.title, screen.cursor.hidden) == ("owned", True)


def test_runners_that_read_other_formats(run, model):
    write_others(model)
    for command, *options in COMMANDS:
        text = run(command, model, *options, "--format", "json").stdout
        assert commands(text) == [], command
    for package in ("networkx", "pydot", "duckdb"):
        pytest.importorskip(package, reason=f"export and query need {package}")
    run("scan", model, "hostile.zip", *DELEGATE, "--processes", "1", "--output", "scan.csv")
    for form in EXPORTS:
        text = run("export", form, model, *DELEGATE).stdout
        assert "owned" in text
        assert commands(text) == [], form
    for form in ("json", "csv"):
        text = run("query", "scan.csv", "--sql", "SELECT model, error FROM runs", "--format", form).stdout
        assert "owned" in text
        assert commands(text) == [], form
    for form in FORMATS:
        text = run("analyze", model, *DELEGATE, "--assume-ops-registered", "--format", form).stdout
        found = commands(text)
        assert found == [] if form != "github" else all(line.startswith(OWN_COMMANDS) for line in found), form


class _Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attributes):
        self.tags.add((tag, *[name for name, _ in attributes if name.startswith("on")]))


def tags(text):
    parser = _Tags()
    parser.feed(text)
    return {tag for tag, *_ in parser.tags}


ACTIVE = {"script", "img", "a", "iframe", "style", "owned", "object", "svg", "link"}


def test_markdown(run, model):
    page = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(rendered(run, model, "markdown"))
    assert tags(page).isdisjoint(ACTIVE)
    assert page.count("<details>") == page.count("</details>")
    assert "script" in tags(MarkdownIt().render(NAMES[4]) + NAMES[4])


def test_the_report_page(run, model):
    assert run("report", model, *DELEGATE, "--output", "page.html").exit_code == 0
    parser = _Tags()
    with open("page.html", encoding="utf-8") as file:
        parser.feed(file.read())
    assert run("report", NONE, *DELEGATE, "--output", "plain.html").exit_code == 0
    own = _Tags()
    with open("plain.html", encoding="utf-8") as file:
        own.feed(file.read())
    assert parser.tags <= own.tags
    assert not [tag for tag, *handlers in parser.tags if handlers]


def test_exported_graphs(run, model):
    pytest.importorskip("networkx", reason="export needs networkx")
    graph = run("export", "graphml", model, *DELEGATE).stdout
    root = xml.etree.ElementTree.fromstring(graph.encode())
    assert {element.tag.partition("}")[2] for element in root.iter()} <= {"graphml", "key", "graph", "node", "edge", "data"}
    for form in ("json", "model-explorer"):
        assert json.loads(run("export", form, model, *DELEGATE).stdout)


def test_notebooks(model):
    assert tags(analyze(load(model), "nnapi", defaults="api")._repr_html_()).isdisjoint(ACTIVE)


def test_csv(run, model):
    rows = list(csv.reader(io.StringIO(rendered(run, model, "csv")), strict=True))
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_junit(run, model):
    root = xml.etree.ElementTree.fromstring(rendered(run, model, "junit").encode())
    assert {element.tag for element in root.iter()} <= {"testsuites", "testsuite", "testcase", "failure", "error", "system-out"}


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_json_for_services(run, model, form):
    def strings(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from strings(key)
                yield from strings(item)
        elif isinstance(value, list):
            for item in value:
                yield from strings(item)

    for text in strings(json.loads(rendered(run, model, form))):
        assert all(character.isprintable() or character == "\n" for character in text)


def test_messages_of_sarif_hold_no_links(run, model):
    found = json.loads(rendered(run, model, "sarif"))["runs"][0]["results"]
    assert found
    assert not [result for result in found if "](" in result["message"]["text"]]
