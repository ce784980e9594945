"""Load models with the runtime that is installed for this Python: without a delegate, and with the default delegate.

Needs the runtime, and nothing of this project but ``delegate_sim/live/execution_plans.py``, whose folder is the only argument.
Each line of standard input is a JSON list of an archive and an entry. Each line of the output is a JSON object: for each of the
two ways, how it ended, the lines on standard error and the execution plans.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

_SECONDS, _MEMORY = 60, 8 << 30


def _without_delegates(content: bytes) -> list[Any]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    Interpreter(model_content=content, experimental_op_resolver_type=kind).allocate_tensors()
    return []


def _with_delegate(content: bytes) -> list[Any]:
    import execution_plans  # type: ignore[import-not-found]

    return [
        [list(step.nodes) if isinstance(step, execution_plans.Partition) else step for step in plan]
        for plan in execution_plans.plans(content)
    ]


def _in_child(action: Callable[[bytes], list[Any]], content: bytes) -> dict[str, Any]:
    """Run an action in a process of its own, because some models crash the runtime."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(_SECONDS)
            os.dup2(errors.fileno(), 2)
            result: dict[str, Any] = {"end": "ok", "plans": []}
            try:
                result["plans"] = action(content)
            except (ValueError, RuntimeError, MemoryError) as error:
                result["end"] = f"{type(error).__name__}: {error}"
            output.write(json.dumps(result).encode())
            output.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        errors.seek(0)
        written = output.read() if status == 0 else b""
        lines = errors.read().decode("utf-8", "replace").splitlines()
    result = json.loads(written) if written else {"end": f"crash ({status})", "plans": []}
    return {**result, "lines": lines}


def main() -> None:
    sys.path.append(sys.argv[1])
    import ai_edge_litert.interpreter  # noqa: F401  # the children need not import it again

    archives: dict[str, zipfile.ZipFile] = {}
    for line in sys.stdin:
        path, entry = json.loads(line)
        archives.setdefault(path, zipfile.ZipFile(path))
        content = archives[path].read(entry)
        answer = {"cpu": _in_child(_without_delegates, content), "xnnpack": _in_child(_with_delegate, content)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
