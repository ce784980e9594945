"""The MCP server, called by the client of the official Python SDK over standard input and output."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest

from delegate_sim_cli.mcp_server import McpError, Roots, make_server

MODEL = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "mobilenet_block.tflite"


def test_paths_outside_the_roots_are_refused(tmp_path):
    inside, outside = tmp_path / "models", tmp_path / "secret.tflite"
    inside.mkdir()
    outside.write_bytes(b"")
    (inside / "link.tflite").symlink_to(outside)
    roots = Roots((str(inside.resolve()),))
    assert roots.path(f"{inside}/a.zip!b.tflite") == f"{inside.resolve()}/a.zip!b.tflite"
    for path in (str(outside), f"{inside}/../secret.tflite", f"{inside}/link.tflite", "https://host/model.tflite"):
        with pytest.raises(McpError, match="is outside the folders"):
            roots.path(path)


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

    tools, results = asyncio.run(run())
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
def test_writing_has_to_be_allowed(tmp_path):
    tools, _ = calls(tmp_path, arguments=["--allow-writing"])
    assert not tools["fix"].annotations.read_only_hint
