"""Make the two worked examples of docs/time.md from models of the corpora. The times are made up, with known shares."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from delegate_sim import load
from delegate_sim.api.arguments import target_of
from delegate_sim.runtime.interpreter import simulate
from delegate_sim_cli.main import program
from fixtures.op_profiles import profiled_rows, write_profile
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpus"
PAGE = ROOT / "docs" / "time.md"
_WIDTH = "100"
_NOT_RUN = "<!-- not run: the model is in ../shared; make time-stories remakes the output -->"


@dataclass(frozen=True)
class Story:
    """One example: a model of a corpus, the options of NNAPI on the command line, and the time of each row of its profile."""

    section: str
    """The name of the section in the page."""
    archive: str
    member: str
    name: str
    """The name of the file in the example."""
    options: Sequence[str]
    values: dict[str, str]
    """The same options in Python."""
    ms_of: Callable[[str, int], float]
    """Return the milliseconds of a row, from the operator and the first node."""


def _transformer_ms(op: str, node: int) -> float:
    """Return times with the shares of a published case: 1,190 FULLY_CONNECTED take 72.5 % of 559 ms."""
    return {"FULLY_CONNECTED": 405.275 / 1190, "GELU": 12.725 / 6}.get(op, 141 / 31)


def _detector_ms(op: str, node: int) -> float:
    return 0.879 if op == "RESIZE_NEAREST_NEIGHBOR" else 8.2 if node else 12.4


STORIES = (
    Story(
        "transformer times",
        "keras.zip",
        "distilbert_batch8.dyn_unfold.tf215.tflite",
        "distilbert.tflite",
        (),
        {},
        _transformer_ms,
    ),
    Story(
        "detector times",
        "torch.zip",
        "det_fpn_mbv3.f32.s8.tflite",
        "detector.tflite",
        ("--nnapi-accelerator-name", "npu", "--driver-rejects", "RESIZE_NEAREST_NEIGHBOR"),
        {"nnapi_accelerator_name": "npu", "driver_rejects": "RESIZE_NEAREST_NEIGHBOR"},
        _detector_ms,
    ),
)


def told(story: Story) -> str:
    """Return the example as a block of text: the command, and the parts of its output about time."""
    with tempfile.TemporaryDirectory() as folder:
        model, profile = Path(folder, story.name), Path(folder, "profile.txt")
        with zipfile.ZipFile(SHARED / story.archive) as archive:
            model.write_bytes(archive.read(story.member))
        run = simulate(load(model), target_of("nnapi", story.values, None, "benchmark"))
        profile.write_text(write_profile(profiled_rows(run, story.ms_of)), encoding="utf-8")
        arguments = [story.name, "--delegate", "nnapi", *story.options, "--op-profile", profile.name]
        before = Path.cwd()
        os.chdir(folder)
        try:
            done = CliRunner().invoke(program, ["diagnose", *arguments], env={"COLUMNS": _WIDTH})
        finally:
            os.chdir(before)
    if done.exit_code:
        raise SystemExit(done.output)
    return "\n".join([_NOT_RUN, "```console", f"$ delegate-sim diagnose {' '.join(arguments)}", *_excerpt(done.stdout), "```"])


def _excerpt(output: str) -> Iterator[str]:
    """Yield the verdict, where the time goes, and the first cause; ``...`` stands for lines that are left out."""
    paragraphs = [paragraph.splitlines() for paragraph in output.split("\n\n")]
    times = next(lines for lines in paragraphs if lines[0].startswith("Where the time goes"))
    cause = next(lines for lines in paragraphs if lines[0].startswith("1. "))
    yield from (*paragraphs[0], "...")
    yield from _until(times, "  whole run")
    if kernels := [line for line in times if line.startswith("  Kernels of")]:
        shown = times[times.index(kernels[0]) :][:5]
        yield from ("...", *shown)
    yield from ("...", *_until(cause, "   found"), "...")
    start = next(number for number, line in enumerate(cause) if line.startswith("   time:"))
    yield from (*cause[start:], "...")


def _until(lines: Sequence[str], beginning: str) -> Iterator[str]:
    """Yield the lines before the first line with a beginning."""
    for line in lines:
        if line.startswith(beginning):
            return
        yield line


def main() -> int:
    """Print the examples, write them into the page, or compare them with the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the examples into docs/time.md")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    for story in STORIES:
        text = told(story)
        page = with_section(page, story.section, text)
        print(text)
    if arguments.write:
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
