"""Compare the simulated engine with the real one on bundles: ``python -m tools.language_models.check FOLDER``.

Each bundle in the folder is simulated and run on the CPU and the GPU, which needs ``litert-lm-api`` and a Vulkan driver such as
SwiftShader. The program prints a line for each bundle and backend, and ends with status 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from delegate_sim.live.litert_lm import run_bundle
from delegate_sim.llm.bundle import CPU, GPU
from delegate_sim.llm.engine import run_engine

_PROMPT = "Hello 123"


def check(folder: Path) -> int:
    """Compare all bundles in a folder, and return the exit status."""
    counts = Counter[str]()
    for path in sorted(folder.glob("*.litertlm")):
        for backend in (CPU, GPU):
            report = run_engine(str(path), backend, {"prompt": _PROMPT})
            live = run_bundle(report)
            verdict = "not run" if not live.is_run else "differs" if live.differences else "same"
            counts[verdict] += 1
            stop = (
                "" if report.stop is None else f"{report.stop.operator or ''} {(report.stop.reasons or (report.stop.error,))[0]}"
            )
            print(f"{path.stem:45} {backend.lower():4} {report.outcome:18} {verdict:8} {stop}", *live.differences, sep="\n    ")
    print(dict(counts))
    return int(counts["differs"] > 0)


def main() -> int:
    """Compare the bundles in the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    return check(parser.parse_args().folder)


if __name__ == "__main__":
    sys.exit(main())
