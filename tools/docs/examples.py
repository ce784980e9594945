"""Run the examples of the documentation, and put their current output into the pages (``make examples``).

An example is a line ``$ delegate-sim ...`` in a block of code, followed by the output that it shows. The line ``...`` stands for
any number of lines; a shown line that ends with ``...`` may go on. ``$ echo $?`` shows an exit code other than 0. ``$ cat FILE``
shows a file, as do blocks whose first line is ``# FILE``, and ``$ cp FROM TO`` copies one. Each page has a folder with models
of this repository under the names in ``FILES``, with bundles (``fixtures.language_models.documented``) and an application. The
comment ``<!-- not run: REASON -->`` before a block leaves it out.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from click.testing import CliRunner

from delegate_sim_cli.main import program
from fixtures.bundles import apk, manifest
from fixtures.language_models import documented

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 100
FILES = {
    "model.tflite": "transformer_block",
    "mobilenet.tflite": "mobilenet_block",
    "quantized.tflite": "quantized_block",
    "encoder.tflite": "transformer_block",
    "float16.tflite": "float16_weights",
    "models/classifier.tflite": "mobilenet_block",
    "models/encoder.tflite": "transformer_block",
    "convolutions.tflite": "convolutions",
}
"""Models of ``fixtures/models`` by the names that pages give them."""
_BLOCK = re.compile(r"^(?P<mark><!-- not run: [^\n]* -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.\w+)\n")


@dataclass(frozen=True)
class Example:
    """A command of a page with the lines that it shows."""

    command: str
    shown: tuple[str, ...]
    exit_code: int = 0


@dataclass(frozen=True)
class Outcome:
    """The exit code and output of an example; lines have no trailing spaces."""

    example: Example
    exit_code: int
    output: tuple[str, ...]


def pages() -> list[Path]:
    """Return the pages whose examples are run: all but those of rules and the appendix, which are generated."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def outcomes(text: str) -> Iterator[Outcome]:
    """Run the examples of a page, one after the other in one folder."""
    with _folder():
        for block in _BLOCK.finditer(text):
            if block["mark"]:
                continue
            if named := _FILE.match(block["text"]):
                _write(named[1], block["text"])
                continue
            for example in examples(block["text"]):
                words = shlex.split(example.command, comments=True)
                if words[0] == "cat":
                    _write(words[1], "\n".join([*example.shown, ""]))
                elif words[0] == "cp":
                    shutil.copyfile(words[1], words[2])
                elif words[0] == "delegate-sim":
                    done = CliRunner().invoke(program, words[1:], env={"COLUMNS": str(WIDTH), "NO_COLOR": "1"})
                    lines = tuple(line.rstrip() for line in done.output.splitlines())
                    yield Outcome(example, done.exit_code, lines)


def examples(block: str) -> Iterator[Example]:
    """Yield the commands of a block with the lines that follow each."""
    example = None
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        if command == "echo $?" and example:
            example = replace(example, exit_code=int(shown[0]))
            continue
        if example:
            yield example
        example = Example(command, tuple(shown))
    if example:
        yield example


def difference(outcome: Outcome) -> str | None:
    """Return how an outcome differs from what the page shows, or None."""
    if outcome.exit_code != outcome.example.exit_code:
        return f"exit code {outcome.exit_code}, not {outcome.example.exit_code}"
    position = 0
    for segment in _segments(outcome.example.shown):
        place = _place(segment, outcome.output, position)
        if place is None:
            return f"not in the output from line {position + 1} on: {segment}"
        position = place + len(segment)
    return None


def with_current_output(text: str) -> str:
    """Return a page whose examples show what the program prints now; parts that the page leaves out stay left out."""
    for outcome in list(outcomes(text)):
        if difference(outcome) and outcome.exit_code == outcome.example.exit_code:
            example = outcome.example
            before = "\n".join([f"$ {example.command}", *example.shown])
            text = text.replace(before, "\n".join([f"$ {example.command}", *_current(example.shown, outcome.output)]), 1)
    return text


def _segments(shown: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the runs of lines between lines of dots."""
    segments: list[tuple[str, ...]] = [()]
    for line in shown:
        segments = [*segments, ()] if line == "..." else [*segments[:-1], (*segments[-1], line)]
    return [segment for segment in segments if segment]


def _place(segment: tuple[str, ...], output: tuple[str, ...], start: int) -> int | None:
    """Return where a run of lines stands in the output, from a line on."""
    for place in range(start, len(output) - len(segment) + 1):
        if all(_shows(line, output[place + index]) for index, line in enumerate(segment)):
            return place
    return None


def _shows(line: str, printed: str) -> bool:
    return printed.startswith(line[:-3].rstrip()) if line.endswith("...") else line == printed


def _current(shown: tuple[str, ...], output: tuple[str, ...]) -> list[str]:
    """Return the lines to show now.

    A run that is not in the output becomes the lines from the one most like its first to the one most like its last.
    """
    lines: list[str] = []
    position = 0
    dots = [index for index, line in enumerate(shown) if line == "..."]
    bounds = [-1, *dots, len(shown)]
    for begin, end in zip(bounds, bounds[1:], strict=False):
        segment = shown[begin + 1 : end]
        if begin >= 0:
            lines.append("...")
        if not segment:
            continue
        place = _place(segment, output, position)
        if place is None:
            place = _closest(segment[0], output, position)
            last = max(_closest(segment[-1], output, place), place)
            lines += output[place : last + 1]
            position = last + 1
        else:
            lines += segment
            position = place + len(segment)
    return lines


def _closest(line: str, output: tuple[str, ...], start: int) -> int:
    ratios = [(difflib.SequenceMatcher(None, line, printed).ratio(), -index) for index, printed in enumerate(output[start:])]
    return start - max(ratios, default=(0.0, 0))[1]


def _write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


@contextmanager
def _folder() -> Iterator[None]:
    """Work in a new folder with the models."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, fixture in FILES.items():
                Path(name).parent.mkdir(exist_ok=True)
                shutil.copyfile(ROOT / "fixtures" / "models" / f"{fixture}.tflite", name)
            for name, content in documented().items():
                Path(name).write_bytes(content)
            Path("app.apk").write_bytes(apk(elements=manifest(["libOpenCL.so"], extracts=False)))
            yield
        finally:
            os.chdir(before)


def main() -> int:
    """Print examples that differ, or refresh the pages; the exit code is 1 if a difference is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the current output into the pages")
    parser.add_argument("pages", nargs="*", type=Path, help="pages; all if left out")
    arguments = parser.parse_args()
    failed = False
    for page in arguments.pages or pages():
        text = page.read_text(encoding="utf-8")
        if arguments.write and (current := with_current_output(text)) != text:
            page.write_text(current, encoding="utf-8")
            text = current
        for outcome in outcomes(text):
            if problem := difference(outcome):
                print(f"{page.name}: {outcome.example.command}: {problem}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
