"""Check the versions of builtin operators that published runtimes load against the table of delegate_sim.

``python tools/upstream/resolver_versions.py measure DIRECTORY`` asks the runtime that is installed for that Python
(``ai-edge-litert``, ``tflite-runtime``, ``tensorflow-cpu`` or ``tensorflow``) and writes what it answers into a file of the
directory. It needs Python 3.9 or later and the runtime, nothing of this project, so that every release can be measured in a
virtual environment of its own::

    python3.9 -m venv /tmp/runtime
    /tmp/runtime/bin/pip install tflite-runtime==2.12.0 "numpy<2"
    /tmp/runtime/bin/python tools/upstream/resolver_versions.py measure /tmp/measured

``python -m tools.upstream.resolver_versions compare DIRECTORY`` holds every file of the directory against
``delegate_sim.runtime.resolver``: the versions, and the lines of the refusals. The exit code is 1 if anything differs. ``keep``
writes what was measured for the tests.

A model needs no node for this: the runtime looks up every operator code that a file lists before it reads a node. The
interpreter is made with ``BuiltinOpResolver`` without default delegates. What is neither accepted nor refused by one of the two
lines known stops the measurement.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import re
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delegate_sim.releases.catalogue import Release

_CUSTOM = 32
_CODES = [code for code in range(256) if code != _CUSTOM]
_VERSIONS = range(25)

_PLACEHOLDER_FOR_GREATER_OP_CODES = 127

_KEPT = Path(__file__).resolve().parents[2] / "tests" / "runtime" / "registered_versions.json"
_OUT_OF_RANGE = "out of range"
_FIRST_OUT_OF_RANGE = "first out of range"

_REFUSAL = re.compile(r"Didn't find op for builtin opcode '(?P<op>\w+)' version '(?P<version>\d+)'|out of range: (?P<code>\d+)")
_FIELDS = {"op": "{op}", "version": "{version}", "code": "{code}"}

_RUNTIMES = {
    "ai-edge-litert": ("litert", "ai_edge_litert.interpreter"),
    "tflite-runtime": ("tf", "tflite_runtime.interpreter"),
    "tensorflow-cpu": ("tf", "tensorflow.lite.python.interpreter"),
    "tensorflow": ("tf", "tensorflow.lite.python.interpreter"),
}
"""The distributions that have an interpreter: the family of their releases, and the module."""


def model(codes: Iterable[tuple[int, int]]) -> bytes:
    """Return a model that lists these operator codes, each a builtin code and a version, and has no node."""
    content = bytearray(struct.pack("<I4s", 0, b"TFL3"))
    listed = [(min(code, _PLACEHOLDER_FOR_GREATER_OP_CODES), None, version, code) for code, version in codes]
    subgraph: tuple[Any, ...] = ([], [], [], [])
    struct.pack_into("<I", content, 0, _append(content, (3, listed, [subgraph], None, [()])))
    return bytes(content)


def _append(content: bytearray, value: tuple[Any, ...] | list[Any]) -> int:
    """Append a flatbuffer's table (a tuple of its fields, None where absent) or vector of tables; return where it begins."""
    if isinstance(value, list):
        start = len(content)
        content += struct.pack("<I", len(value))
    else:
        offsets = [0 if field is None else 4 + 4 * number for number, field in enumerate(value)]
        layout = struct.pack(f"<HH{len(offsets)}H", 4 + 2 * len(offsets), 4 + 4 * len(offsets), *offsets)
        content += layout + bytes(len(layout) % 4)
        start = len(content)
        content += struct.pack("<i", len(layout) + len(layout) % 4)
    content += bytes(4 * len(value))
    for number, field in enumerate(value):
        slot = start + 4 + 4 * number
        if isinstance(field, int):
            struct.pack_into("<i", content, slot, field)
        elif field is not None:
            struct.pack_into("<I", content, slot, _append(content, field) - slot)
    return start


def measure() -> dict[str, Any]:
    """Ask the installed runtime for every builtin code and version."""
    name, distribution = _installed_runtime()
    family, module = _RUNTIMES[name]
    interpreter = importlib.import_module(module)
    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES

    def refusal(content: bytes) -> str | None:
        try:
            interpreter.Interpreter(model_content=content, experimental_op_resolver_type=resolver)
        except ValueError as error:
            return str(error)
        return None

    if refusal(model([])) is not None:
        raise SystemExit(f"{name} {distribution} refuses a model without operators: {refusal(model([]))}")
    versions: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    lines: dict[str, list[int]] = {}
    for code in _CODES:
        for version in _VERSIONS:
            line = refusal(model([(code, version)]))
            if line is None:
                versions.setdefault(code, []).append(version)
                continue
            match = _REFUSAL.search(line)
            if match is None:
                raise SystemExit(f"neither a refusal known nor none, for builtin code {code}: {line}")
            said = {key: text for key, text in match.groupdict().items() if text is not None}
            if said.get("version", str(version)) != str(version) or said.get("code", str(code)) != str(code):
                raise SystemExit(f"asked for version {version} of builtin code {code}: {line}")
            if "op" in said:
                names[code] = said["op"]
            lines.setdefault(_template(line, match), []).append(code)
    return {
        "release": f"{family}-{distribution}",
        "runtime": f"{name} {distribution}, Python {sys.version.split()[0]}",
        "names": names,
        "versions": versions,
        "lines": {line: sorted(set(codes)) for line, codes in lines.items()},
    }


def differences(measurement: Mapping[str, Any]) -> list[str]:
    """Return where a measurement differs from the table of its release: versions, names and lines of refusals."""
    from delegate_sim.model.schema import operator_name
    from delegate_sim.releases.catalogue import Release
    from delegate_sim.runtime.resolver import Loads, loads, refusal_lines

    family, version = measurement["release"].split("-")
    release = Release(family, tuple(map(int, version.split("."))))
    lines = {code: line for line, codes in measurement["lines"].items() for code in codes}
    differing = []
    for code in _CODES:
        op = operator_name(code)
        if op != measurement["names"].get(str(code), op):
            differing.append(f"builtin code {code} is {op}, and {measurement['names'][str(code)]} there")
        measured = measurement["versions"].get(str(code), [])
        table = [version for version in _VERSIONS if loads(op, version, release) is Loads.YES]
        if table != measured:
            differing.append(f"{op}: {table} in the table, {measured} measured")
        refused = max(_VERSIONS)
        measured_lines = lines[code].format(op=op, version=refused, code=code).replace("\n", "")
        if "".join(refusal_lines(op, refused, release)) != measured_lines:
            differing.append(f"{op}: refused by {refusal_lines(op, refused, release)} in the table, by {measured_lines!r} there")
    return differing


def compare(directory: Path) -> int:
    """Print where measurements differ from the table, and the releases on offer that none of them is of."""
    from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release

    files = sorted(directory.glob("*.json"))
    measured = set()
    has_differences = False
    for file in files:
        measurement = json.loads(file.read_text(encoding="utf-8"))
        measured.add(parse_release(measurement["release"]))
        differing = differences(measurement)
        has_differences |= bool(differing)
        print(f"{measurement['runtime']}: {'as in the table' if not differing else f'{len(differing)} differences'}")
        for line in differing:
            print(f"  {line}")
    missing = [name for name in KNOWN_RELEASES if not any(_is_same(parse_release(name), other) for other in measured)]
    print(f"{len(files)} measurements; of {', '.join(missing) or 'no release known'} there is none")
    return int(has_differences)


def keep(directory: Path) -> None:
    """Write what was measured to where the tests hold the table against it: of each release what differs from the one before."""
    files = [json.loads(file.read_text(encoding="utf-8")) for file in directory.glob("*.json")]
    known: dict[tuple[str, str], list[int]] = {}
    kept: dict[str, dict[str, list[int]]] = {}
    for measurement in sorted(files, key=lambda measurement: _order(measurement["release"])):
        family, _, _ = measurement["release"].partition("-")
        out_of_range = next(codes for line, codes in measurement["lines"].items() if _OUT_OF_RANGE in line)
        names = measurement["names"]
        now = {names[code]: [min(versions), max(versions)] for code, versions in measurement["versions"].items() if code in names}
        now[_FIRST_OUT_OF_RANGE] = [min(code for code in out_of_range if code > _CUSTOM)]
        kept[measurement["release"]] = {name: numbers for name, numbers in now.items() if known.get((family, name)) != numbers}
        known.update({(family, name): numbers for name, numbers in now.items()})
    lines = [f" {json.dumps(release)}: {json.dumps(changed, sort_keys=True)}" for release, changed in kept.items()]
    _KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _order(release: str) -> tuple[str, tuple[int, ...]]:
    family, _, version = release.partition("-")
    return family, tuple(map(int, version.split(".")))


def _is_same(known: Release, measured: Release) -> bool:
    return known.family == measured.family and known.version == measured.version[: len(known.version)]


def _template(line: str, match: re.Match[str]) -> str:
    spans = sorted([(*match.span(key), field) for key, field in _FIELDS.items() if match[key] is not None], reverse=True)
    for start, end, field in spans:
        line = line[:start] + field + line[end:]
    return line


def _installed_runtime() -> tuple[str, str]:
    for name in _RUNTIMES:
        try:
            return name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    raise SystemExit(f"none of {', '.join(_RUNTIMES)} is installed for {sys.executable}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, compare or keep; the exit code is 1 if a measurement and the table differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("measure", "compare", "keep"))
    parser.add_argument("directory", type=Path, help="where the measurements are")
    options = parser.parse_args(arguments)
    if options.command == "compare":
        return compare(options.directory)
    if options.command == "keep":
        keep(options.directory)
        return 0
    measurement = measure()
    options.directory.mkdir(parents=True, exist_ok=True)
    file = options.directory / f"{measurement['runtime'].split(',')[0].replace(' ', '-')}.json"
    file.write_text(json.dumps(measurement, indent=1) + "\n", encoding="utf-8")
    print(f"{measurement['runtime']}: {len(measurement['versions'])} operators")
    return 0


if __name__ == "__main__":
    sys.exit(main())
