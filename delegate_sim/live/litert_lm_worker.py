"""Run LiteRT-LM's engine on a bundle, in a separate process: make the engine and a session, read a prompt, generate tokens.

Before each stage, the process writes the name of the stage to a file. The engine's log is on standard error. This module imports
nothing from delegate-sim, because it runs with the engine's package alone.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

_VERBOSE = "_ZN4absl12log_internal21UpdateGlobalVLogLevelEi"
"""The symbol of absl's function that sets the VLOG level, in the wheel's library."""
_PROMPT = "Hello"
_TOKENS = 4
REFUSED_STATUS = 3
"""The exit status after an error of the engine. A crash ends the process with a signal, or with status 1."""


def main(bundle: str, arguments: str, result: str) -> None:
    """Run the stages. If the library crashes, the process ends, and the file names the last stage."""
    import litert_lm

    given: dict[str, Any] = json.loads(arguments)
    reached = Path(result)
    _log_everything(litert_lm)

    def backend(name: str | None) -> Any:
        if not name:
            return None
        kind = getattr(litert_lm.Backend, name.upper())
        return kind(litert_dispatch_lib_dir="") if name.upper() == "NPU" else kind()

    reached.write_text("engine", encoding="utf-8")
    try:
        engine = litert_lm.Engine(
            bundle,
            backend=backend(given["backend"]),
            vision_backend=backend(given.get("vision")),
            audio_backend=backend(given.get("audio")),
            cache_dir=given.get("cache_dir", ":nocache"),
            **given.get("kw", {}),
        )
        reached.write_text("session", encoding="utf-8")
        session = engine.create_session(apply_prompt_template=False, max_output_tokens=_TOKENS)
        reached.write_text("prefill", encoding="utf-8")
        session.run_prefill([given.get("prompt", _PROMPT)])
        reached.write_text("decode", encoding="utf-8")
        session.run_decode()
    except (RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(REFUSED_STATUS)
    reached.write_text("done", encoding="utf-8")
    session.close()
    engine.close()
    reached.write_text("", encoding="utf-8")


def _log_everything(package: Any) -> None:
    library = ctypes.CDLL(str(Path(package.__file__).parent / "liblitert-lm.so"))
    library.litert_lm_set_min_log_level(0)
    verbose = getattr(library, _VERBOSE, None)
    if verbose is not None:
        verbose(2)


if __name__ == "__main__":
    main(*sys.argv[1:])
