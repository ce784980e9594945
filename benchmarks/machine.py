"""The machine that figures were measured on."""

from __future__ import annotations

import compileall
import os
import platform
import re
from pathlib import Path


def compile_all() -> None:
    """Compile this project's modules, as an installer does: else each process would compile what changed since, and be slow."""
    root = Path(__file__).resolve().parents[1]
    for folder in ("delegate_sim", "cli"):
        compileall.compile_dir(root / folder, quiet=1)


def described() -> str:
    """Return a sentence: processor, cores that may be used, memory, system, Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = _found("/proc/meminfo", r"MemTotal:\s+(\d+) kB")
    gibibytes = f", {int(memory) / 2**20:.0f} GiB" if memory else ""
    processor = _found("/proc/cpuinfo", r"model name\s*: (.+)") or platform.processor() or platform.machine()
    return f"Machine: {processor}, {cores} cores{gibibytes}, {platform.system()}, Python {platform.python_version()}."


def _found(path: str, pattern: str) -> str:
    try:
        match = re.search(pattern, Path(path).read_text(encoding="utf-8"))
    except OSError:
        return ""
    return match[1].strip() if match else ""
