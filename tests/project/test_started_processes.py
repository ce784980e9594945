"""Only foundation/processes.py starts processes, because it keeps the current folder out of them."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STARTS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "pty": {"spawn", "fork"},
    "concurrent.futures": {"ProcessPoolExecutor"},
}
MODULES = {"multiprocessing", "_posixsubprocess", "webbrowser"}
ALLOWED = {
    "delegate_sim/foundation/processes.py",
    "delegate_sim/conversion/supervisor.py",  # runs the command and the environment that it is given
}


def starts_of(tree):
    """Yield every name in a module that can start a process."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module.partition(".")[0] in MODULES:
                yield module
            yield from (f"{module}.{alias.name}" for alias in node.names if alias.name in STARTS.get(module, ()))
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            is_started = node.attr in STARTS.get(owner, ()) or node.attr == "ProcessPoolExecutor"
            if is_started or (owner == "os" and node.attr.startswith(("exec", "spawn"))):
                yield f"{owner}.{node.attr}"


def test_only_one_module_starts_processes():
    offenders = [
        f"{path.relative_to(ROOT).as_posix()} uses {name}"
        for folder in ("delegate_sim", "cli")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in ALLOWED
        for name in starts_of(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert offenders == []


def test_the_check_finds_every_way():
    text = """
import multiprocessing.pool, subprocess, os
from subprocess import run
from concurrent.futures import ProcessPoolExecutor
subprocess.Popen(x)
os.execv(x)
os.system(x)
subprocess.PIPE
"""
    assert set(starts_of(ast.parse(text))) == {
        "multiprocessing.pool",
        "subprocess.run",
        "concurrent.futures.ProcessPoolExecutor",
        "subprocess.Popen",
        "os.execv",
        "os.system",
    }
