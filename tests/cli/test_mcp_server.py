"""The MCP server, called by the client of the official Python SDK over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from delegate_sim.errors import DelegateSimError
from delegate_sim_cli.commands.mcp import McpError, Roots, _fix, _target, _tools, make_server, may_be_on_network, run_command
from tests.support.event_loops import run_coroutine

MODEL = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "mobilenet_block.tflite"


@pytest.fixture
def inside(tmp_path):
    """A folder that is a root, beside a file and a folder that are not."""
    (tmp_path / "outside").mkdir()
    shutil.copy(MODEL, tmp_path / "outside" / "secret.tflite")
    folder = tmp_path / "models"
    folder.mkdir()
    shutil.copy(MODEL, folder / "model.tflite")
    return folder


@pytest.fixture
def roots(inside):
    return Roots((str(inside.resolve()),))


def test_paths_outside_the_roots_are_refused(inside, roots):
    (inside / "link.tflite").symlink_to(inside.parent / "outside" / "secret.tflite")
    (inside / "folder").symlink_to(inside.parent / "outside")
    for path in (
        inside.parent / "outside" / "secret.tflite",
        f"{inside}/../outside/secret.tflite",
        f"{inside}/link.tflite",
        f"{inside}/folder/secret.tflite",
        "https://host/model.tflite",
        "/etc/hostname",
    ):
        with pytest.raises(McpError, match="is outside the folders"):
            roots.model(str(path))


def test_a_path_is_checked_as_the_command_opens_it(inside, roots):
    """A name may have an exclamation mark. Only "!/" behind the name of a file begins the name of a member."""
    (inside / "a!.tflite").symlink_to(inside.parent / "outside" / "secret.tflite")
    (inside / "d!").mkdir()
    (inside / "d!" / "m.tflite").write_bytes(b"")
    (inside / "x.zip").write_bytes(b"")
    (inside / "link.zip").symlink_to("x.zip")
    for path in (f"{inside}/a!.tflite", f"{inside}/d!/../../outside/secret.tflite", f"{inside}/a!.tflite!/m.tflite"):
        with pytest.raises(McpError, match="is outside the folders"):
            roots.model(path)
    real = inside.resolve()
    assert roots.model(f"{inside}/d!/m.tflite") == f"{real}/d!/m.tflite"
    assert roots.model(f"{inside}/link.zip!/../../m.tflite") == f"{real}/x.zip!/../../m.tflite"


def test_a_path_that_means_another_file_once_it_is_resolved(inside, roots):
    (inside / "d").write_bytes(b"")
    (inside / "d!").mkdir()
    (inside / "d!" / "m.tflite").write_bytes(b"")
    (inside / "plain").symlink_to("d!")
    with pytest.raises(McpError, match="names another file after its links are resolved"):
        roots.model(f"{inside}/plain/m.tflite")


def test_what_is_not_one_file_has_a_plain_message(inside, roots, monkeypatch):
    monkeypatch.chdir(inside)
    for path, message in (
        (".", r"\.: is a folder; give the path of one file"),
        ("", ": is a folder"),
        ("*.tflite", r"\*\.tflite: No such file or directory; a pattern is not possible here"),
        ("-", "-: No such file or directory"),
        ("other.tflite", "other.tflite: No such file or directory"),
        ("a\0b", "is outside the folders"),
        ("a\ud800b", "is outside the folders"),
        ("//server/share/x.tflite", "is outside the folders"),
    ):
        with pytest.raises(McpError, match=message):
            roots.model(path)
    assert roots.model("model.tflite") == str(inside.resolve() / "model.tflite")


@pytest.mark.parametrize(
    "path",
    ["//server/share/x", r"\\server\share\x", r"\/server\share\x", r"\??\UNC\server\share\x", r"\\?\UNC\server\x", "/x", r"\x"],
)
def test_paths_without_a_drive_are_refused_on_windows(path):
    assert may_be_on_network(path, is_windows=True)
    assert not may_be_on_network(path, is_windows=False)
    assert not may_be_on_network(f"C:{path}", is_windows=True)


@pytest.mark.parametrize(
    ("argument", "reason"),
    [("a\0b", "embedded null byte"), ("a" * (1 << 22), "Argument list too long"), ("\ud800", "surrogates not allowed")],
)
def test_arguments_that_no_process_takes(argument, reason):
    with pytest.raises(McpError, match=f"^explain cannot be started with these arguments: .*{reason}$"):
        run_command("explain", "--", argument)


def test_an_output_is_a_new_file_below_the_roots(inside, roots):
    (inside / "d!").mkdir()
    (inside / "dangling.tflite").symlink_to(inside.parent / "outside" / "new.tflite")
    (inside / "folder").symlink_to(inside.parent / "outside")
    for path, message in (
        ("d!/../../outside/w3.tflite", "an output cannot be inside a bundle"),
        ("model.tflite!/member", "an output cannot be inside a bundle"),
        ("../outside/w.tflite", "is outside the folders"),
        ("folder/w.tflite", "is outside the folders"),
        ("dangling.tflite", "is outside the folders"),
        ("model.tflite", "already exists"),
        ("none/w.tflite", "No such file or directory"),
    ):
        with pytest.raises(McpError, match=message):
            roots.output(f"{inside}/{path}")
    assert roots.output(f"{inside}/new.tflite") == f"{inside.resolve()}/new.tflite"


def test_options_that_are_paths_stay_below_the_roots(inside, roots):
    driver, secret = inside / "driver.toml", inside.parent / "outside/secret.tflite"
    driver.touch()
    assert _options(roots, "nnapi", "android=13", f"driver={driver}") == ["android=13", f"driver={driver.resolve()}"]
    assert _options(roots, "npu-google", "op_filters=filters { }") == ["op_filters=filters { }"]
    for delegate, name in (("nnapi", "driver"), ("nnapi", "devices"), ("all", "driver"), ("npu-google", "op_filters")):
        with pytest.raises(McpError, match="is outside the folders"):
            _options(roots, delegate, f"{name}={secret}")


def _options(roots, delegate, *options):
    _, *arguments = _target(roots, delegate, options, None)
    return [argument.removeprefix("--option=") for argument in arguments]


def test_values_are_never_read_as_flags(inside, roots, monkeypatch):
    commands = []
    monkeypatch.setattr("delegate_sim_cli.commands.mcp.run_command", lambda *arguments: commands.append(arguments) or {})
    tools = {tool.__name__: tool for tool in [*_tools(roots), _fix(roots)]}
    model = f"{inside}/model.tflite"
    tools["analyze"](model, "nnapi", ["android=--report=json=x"], "--report=json=x")
    tools["rules"]("--output=x", "--output=x")
    tools["explain"]("--log=x")
    tools["fix"](model, f"{inside}/new.tflite")
    for command in commands:
        values = [word for word in command[1:] if not word.startswith(("--delegate=", "--option=", "--runtime=", "--op="))]
        flags = [word for word in values if word.startswith("-") and word != "--"]
        assert [flag for flag in flags if values.index(flag) < (values.index("--") if "--" in values else len(values))] == [
            flag for flag in flags if flag.startswith("--output=/")
        ]
    with pytest.raises(DelegateSimError, match="there is no delegate"):
        tools["analyze"](model, "--output=x")


def test_a_root_that_does_not_exist():
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    with pytest.raises(McpError, match="nowhere is not a folder"):
        make_server(["nowhere"])


def calls(folder, *requests, arguments=()):
    """Return the names of the tools, and the answer to each request: its data, or the text of its error."""
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def run():
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "delegate_sim", "mcp", "--root", str(folder), *arguments]
        )
        async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            return tools, [await session.call_tool(name, given) for name, given in requests]

    tools, results = run_coroutine(run())
    answers = [result.content[0].text if result.is_error else json.loads(result.content[0].text) for result in results]
    return {tool.name: tool for tool in tools}, answers


@pytest.mark.slow
def test_tools_give_the_answers_of_the_command_line(tmp_path):
    shutil.copy(MODEL, tmp_path / "model.tflite")
    model = str(tmp_path / "model.tflite")
    tools, (analyzed, diagnosed, explained, rules, planned, missing) = calls(
        tmp_path,
        ("analyze", {"model": model, "delegate": "gpu"}),
        ("diagnose", {"model": model, "options": ["android=11"]}),
        ("explain", {"code": "nnapi-operator-version"}),
        ("rules", {"operator": "CONV_2D", "delegate": "gpu"}),
        ("plan_fix", {"model": model}),
        ("analyze", {"model": str(tmp_path / "other.tflite")}),
    )
    assert set(tools) == {"analyze", "diagnose", "compare", "releases", "rules", "explain", "plan_fix"}
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert tools["analyze"].input_schema["required"] == ["model"]
    assert analyzed["runs"][0]["delegate"] == "gpu"
    assert diagnosed["schema"].startswith("delegate-sim/diagnosis/")
    assert explained["codes"][0]["code"] == "nnapi-operator-version"
    assert rules["operators"][0]["op"] == "CONV_2D"
    assert planned["schema"].startswith("delegate-sim/fix/")
    assert "other.tflite" in missing


@pytest.mark.slow
def test_the_server_writes_if_it_may_and_reads_nothing_outside(inside):
    (inside / "d!").mkdir()
    (inside / "a!.tflite").symlink_to(inside.parent / "outside" / "secret.tflite")
    tools, answers = calls(
        inside,
        ("fix", {"model": f"{inside}/model.tflite", "output": f"{inside}/d!/../../outside/w3.tflite", "delegate": "gpu"}),
        ("analyze", {"model": f"{inside}/a!.tflite"}),
        ("analyze", {"model": f"{inside}/model.tflite", "options": [f"driver={inside.parent}/outside/secret.tflite"]}),
        ("analyze", {"model": "."}),
        arguments=["--allow-writing"],
    )
    assert not tools["fix"].annotations.read_only_hint
    assert [type(answer) for answer in answers] == [str] * 4, answers
    assert sorted(path.name for path in (inside.parent / "outside").iterdir()) == ["secret.tflite"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are always text")
def test_a_name_that_is_no_text_can_be_sent(tmp_path):
    pytest.importorskip("anyio", reason="the extra mcp is not installed")
    path = f"{tmp_path}/a\udcff\\udcff.tflite"
    shutil.copy(MODEL, path)
    answer = run_command("analyze", "--delegate=gpu", "--", path)
    assert answer["model"]["path"] == f"{tmp_path}/a\\udcff\\udcff.tflite"
    json.dumps(answer, ensure_ascii=False).encode()


def test_an_answer_that_is_too_large(monkeypatch):
    pytest.importorskip("anyio", reason="the extra mcp is not installed")
    monkeypatch.setattr("delegate_sim_cli.commands.mcp._MOST_OUTPUT", 100)
    with pytest.raises(McpError, match="more than 100 bytes"):
        run_command("explain", "--", "nnapi-missing-bias")


_SLEEPING_SERVER = """\
import signal, sys
from delegate_sim_cli.commands import mcp as mcp_server
signal.signal(signal.SIGINT, signal.SIG_IGN)
program = "import os, sys, time; open(sys.argv[1], 'w').write(f'{os.getpid()} {os.getppid()}\\\\n'); time.sleep(300)"
mcp_server.python_module = lambda *arguments: [sys.executable, "-c", program, sys.argv[1]]
mcp_server.serve(mcp_server.make_server(["."]))
"""
"""A server whose commands write the numbers of their process and of the server to a file, and then sleep.

SIGINT is ignored at first, as in a process that a shell starts in the background.
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="asks for processes by number")
@pytest.mark.parametrize("end", ["cancelled", "closed", "terminated"])
def test_a_call_that_nobody_waits_for_ends_its_process(tmp_path, end):
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    file = tmp_path / "process"

    def wait_until(is_reached):
        last = time.monotonic() + 30
        while not is_reached() and time.monotonic() < last:
            time.sleep(0.05)
        return is_reached()

    def is_written():
        return file.exists() and file.read_text().endswith("\n")

    def has_ended():
        try:
            os.kill(int(file.read_text().split()[0]), 0)
        except ProcessLookupError:
            return True
        return False

    async def begun(session):
        call = asyncio.create_task(session.call_tool("explain", {"code": "nnapi-missing-bias"}))
        assert await asyncio.to_thread(wait_until, is_written)
        assert not has_ended()
        return call

    async def run():
        server = StdioServerParameters(command=sys.executable, args=["-c", _SLEEPING_SERVER, str(file)])
        async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            call = await begun(session)
            if end == "terminated":
                os.kill(int(file.read_text().split()[1]), signal.SIGTERM)
                assert await asyncio.to_thread(wait_until, has_ended)
            elif end == "cancelled":
                call.cancel()
                assert await asyncio.to_thread(wait_until, has_ended)
                assert (await session.list_tools()).tools
        return await asyncio.gather(call, return_exceptions=True)

    run_coroutine(run())
    assert wait_until(has_ended)
