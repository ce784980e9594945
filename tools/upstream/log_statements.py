"""Extract the log statements of runtimes, delegates and drivers, and write them as a table (``make log-statements``).

``python -m tools.upstream.log_statements --tree ACCOUNT/NAME=PATH ... --write`` takes git directories. It writes
``delegate_sim/device/parse/sources.tsv``: for each statement the component that prints it, its severity, the texts that do not
vary with typed fields between them, the file, and the releases that have it. Nothing else is taken from upstream. Repositories
without a tree keep their rows.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from delegate_sim.device.parse.known_lines import TABLE_COLUMNS, is_specific

from ..cpp import CppText

FILE = Path(__file__).resolve().parents[2] / "delegate_sim" / "device" / "parse" / "sources.tsv"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository: its revisions with the names of the releases, oldest first, and the component of each folder."""

    name: str
    revisions: Sequence[tuple[str, str]]
    components: Sequence[tuple[str, str]]
    """Pairs of a folder and the component, most specific folder first. Files in other folders are not read."""
    family: str = ""
    """Repositories of one family have the same code, one after another. Of each, the family's path is compared."""


_TFLITE = (
    *(("delegates/gpu", "the GPU delegate"), ("delegates/nnapi", "the NNAPI delegate"), ("nnapi", "the NNAPI delegate")),
    *(("delegates/xnnpack", "the XNNPACK delegate"), ("delegates/coreml", "the Core ML delegate")),
    *(("delegates/hexagon", "the Hexagon delegate"), ("delegates/flex", "the Flex delegate")),
    *(("delegates/external", "the external delegate"), ("delegates", "TensorFlow Lite's delegates")),
    *(
        ("tools", "TensorFlow Lite's tools"),
        ("java", "TensorFlow Lite's Java interface"),
        ("kernels", "TensorFlow Lite's kernels"),
    ),
    *(
        ("acceleration", "TensorFlow Lite's acceleration library"),
        ("experimental/acceleration", "TensorFlow Lite's acceleration library"),
    ),
    *(("core", "TensorFlow Lite's runtime"), ("c", "TensorFlow Lite's runtime"), ("async", "TensorFlow Lite's runtime")),
    *(
        ("profiling", "TensorFlow Lite's runtime"),
        ("interpreter", "TensorFlow Lite's runtime"),
        ("", "TensorFlow Lite's runtime"),
    ),
)
_LITERT = (
    *(
        (f"litert/vendors/{folder}", f"LiteRT's plugin for {vendor}")
        for folder, vendor in (
            ("qualcomm", "Qualcomm"),
            ("mediatek", "MediaTek"),
            ("google_tensor", "Google Tensor"),
            ("intel_openvino", "Intel"),
            ("samsung", "Samsung"),
            ("", "NPUs"),
        )
    ),
    *(("litert/compiler", "LiteRT's compiler"), ("litert/tools", "LiteRT's tools"), ("litert", "LiteRT's runtime")),
)
REPOSITORIES = (
    Repository(
        "nxp-imx/tensorflow-imx",
        (
            *(("v1.13.1", "tf-1.13"), ("v2.0.0", "tf-2.0"), ("v2.3.0", "tf-2.3"), ("v2.5.0", "tf-2.5"), ("v2.8.0", "tf-2.8")),
            *(("lf-6.1.1_1.0.0", "tf-2.10"), ("lf-6.1.55_2.2.0", "tf-2.12"), ("lf-6.6.3_1.0.0", "tf-2.14")),
        ),
        tuple((f"tensorflow/lite/{folder}".rstrip("/"), component) for folder, component in _TFLITE),
        "tensorflow/lite",
    ),
    Repository(
        "google-ai-edge/LiteRT",
        (
            *(("v1.4.0", "litert-1.4"), ("v2.0.3", "litert-2.0"), ("v2.1.0", "litert-2.1.0"), ("v2.1.6", "litert-2.1.6")),
            *(("v2.2.0", "litert-2.2"), ("HEAD", "HEAD")),
        ),
        (*[(f"tflite/{folder}".rstrip("/"), component) for folder, component in _TFLITE], *_LITERT),
        "tflite",
    ),
    Repository("google/XNNPACK", (("db2475b8af", "2020"), ("111c814e58", "2022"), ("HEAD", "HEAD")), (("src", "XNNPACK"),)),
    Repository(
        "google-ai-edge/mediapipe",
        (("v0.8.11", "0.8.11"), ("v0.10.14", "0.10.14"), ("HEAD", "HEAD")),
        (
            ("mediapipe/tasks/cc/genai", "MediaPipe's LLM inference"),
            *(
                (f"mediapipe/{folder}", "MediaPipe")
                for folder in ("calculators/tensor", "calculators/tflite", "framework", "gpu")
            ),
            *((f"mediapipe/{folder}", "MediaPipe") for folder in ("tasks", "util/tflite", "java")),
        ),
    ),
    Repository("google-ai-edge/LiteRT-LM", (("HEAD", "HEAD"),), (("runtime", "LiteRT-LM"), ("schema", "LiteRT-LM"))),
    Repository(
        "tensorflow/tflite-micro",
        (("39b402d43", "2021"), ("b766947f5", "2023"), ("HEAD", "HEAD")),
        (("tensorflow/lite/micro", "TensorFlow Lite Micro"), ("tensorflow/lite/kernels", "TensorFlow Lite Micro")),
    ),
    Repository(
        "google-coral/libedgetpu",
        (("HEAD", "HEAD"),),
        (
            ("tflite", "libedgetpu"),
            ("driver", "libedgetpu"),
            ("executable", "libedgetpu"),
            ("port", "libedgetpu"),
            ("api", "libedgetpu"),
        ),
    ),
    Repository("VeriSilicon/TIM-VX", (("v1.1.30", "1.1.30"), ("HEAD", "HEAD")), (("src/tim", "VeriSilicon's library"),)),
    Repository("VeriSilicon/tflite-vx-delegate", (("HEAD", "HEAD"),), (("", "the VeriSilicon delegate"),)),
    Repository("nxp-imx/tflite-neutron-delegate", (("HEAD", "HEAD"),), (("", "the Neutron delegate"),)),
    Repository("nxp-imx/tflite-ethosu-delegate-imx", (("HEAD", "HEAD"),), (("", "the Ethos-U delegate"),)),
    Repository(
        "nxp-imx/armnn-imx",
        (("HEAD", "HEAD"),),
        (
            ("delegate", "Arm NN's delegate"),
            ("src/armnn", "Arm NN"),
            ("src/armnnTfLiteParser", "Arm NN"),
            ("src/backends", "Arm NN"),
        ),
    ),
    Repository(
        "LjBLincoln/platform_framework_ml",
        (("HEAD", "2018"),),
        (("nn/runtime", "Android's NNAPI runtime"), ("nn/common", "Android's NNAPI runtime")),
        "nn",
    ),
    Repository(
        "sshyran/aosp",
        (("main", "HEAD"),),
        (("runtime", "Android's NNAPI runtime"), ("common", "Android's NNAPI runtime")),
        "nn",
    ),
)
"""All repositories that are read. Those of a family follow each other, oldest first."""
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|testutil\w*|third_party|toco|converter|examples?|python|g3doc|docs|generated|vts|cts|"
    r"build_fromsource|graph_transform\w*)(?:/|$)|(?:_test|_tests|Test|_test_util|test_utils?|_benchmark|Tests)\.\w+$|(?:^|/)test_|^src/[a-z0-9]+(?:-[a-z0-9]+)+/"
)
_VERBOSE = ("libedgetpu", "Android's NNAPI runtime")
"""The components whose verbose statements users turn on in logs. Those of others are left out."""
_SUFFIXES = (".cc", ".cpp", ".h", ".hpp", ".c", ".mm")

_PRINTED = re.compile(
    r"\b(?P<macro>TFLITE_LOG\w*|LITERT_(?:FATAL_)?LOG\w*|TF_LITE_(?:MAYBE_|OPAQUE_\w*)?\w*LOG\w*|TF_LITE_REPORT_ERROR|ReportError|ReportOpError|"
    r"MicroPrintf|xnn_log_\w+|VSILOG[EWID]|TF_LITE_\w*ENSURE_MSG|TFLITE_DCHECK_MSG|LogToLogger|LogFormatted|ALOG[EWIDV]|"
    r"(?:__android_)?log_print|Log(?:Error|Warning|Info))\s*\("
)
"""Matches calls with a format and values. A call with ``<<`` behind it is a stream."""
_STREAMED = re.compile(
    r"\b(?P<macro>(?:ABSL_|ARMNN_)?(?:D|V|P|S)?LOG(?:_IF|_FIRST_N|_EVERY_N\w*|_EVERY_POW_2)?|(?:ABSL_)?D?CHECK(?:_\w{2})?|RET_CHECK(?:_\w+)?|"
    r"NN_RET_CHECK(?:_\w+)?|NN_CHECK\w*|TFLITE_LOG|ErrorStatusBuilder|NN_ERROR|NNRT_LOG\w*|LITERT_(?:RETURN_IF_ERROR|ENSURE\w*|ASSIGN_OR_RETURN)|"
    r"(?:MP_)?RETURN_IF_ERROR)\s*(?P<opening>\()"
)
_MADE = re.compile(
    r"\b(?:absl::|util::|litert::|tflite::gpu::|::)*(?P<macro>(?:Aborted|AlreadyExists|Cancelled|DataLoss|DeadlineExceeded|"
    r"FailedPrecondition|Internal|InvalidArgument|NotFound|OutOfRange|PermissionDenied|ResourceExhausted|Unavailable|Unimplemented|"
    r"Unknown)Error|Unexpected|Error|(?:armnn\w*::)?\w{1,40}Exception|runtime_error|LITERT_ENSURE\w*|makeError|makeGeneralFailure)\s*\("
)
"""Matches calls that make an error with a text, which the caller prints."""
_CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d*))?(?:hh|h|ll|l|j|z|t|L)?(?P<type>[a-zA-Z]))")
_TYPES = {**dict.fromkeys("diu", "%d"), **dict.fromkeys("eEfFgGaA", "%f"), **dict.fromkeys("xXpo", "%x")}
_JOINED = re.compile(
    r"^(?:\w+::)*(?P<call>StrCat|StrFormat|StringPrintf|SimpleItoa|format|string|Substitute|c_str|StrFormatImpl)\s*\((?P<in>.*)\)(?:\.c_str\(\))?$",
    re.DOTALL,
)
_BUILT = re.compile(r"\A(?:\s*\.\w+\(\))+")
"""Matches the calls of a builder between the bracket of a macro and ``<<``."""
_LITERAL = re.compile(r'\s*(?:u8|L)?"((?:\\.|[^"\\\n])*)"|\s*(PRI[diux]\w*)')
_NUMBER = re.compile(r"size\(\)|(?:^|[_.>])(?:size|count|index|num\w*|rank|version|line)\b|^\d|_cast<(?:u?int|size_t)")
_SEVERITIES = (
    ("FATAL", "F"),
    ("CHECK", "F"),
    ("ERROR", "E"),
    ("WARN", "W"),
    ("INFO", "I"),
    ("VERBOSE", "V"),
    ("DEBUG", "V"),
    ("TRACE", "V"),
)
_LONGEST = 3000
"""Number of characters of a statement that are read."""
_LONGEST_FORMAT = 90
"""Number of characters of a format that are kept. A field stands for the rest."""


@dataclass
class Found:
    """A statement with the revisions that have it."""

    severity: str
    revisions: set[int] = field(default_factory=set)


def statements_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the severity and the format of each log statement in C++ text.

    A format has ``%d``, ``%f``, ``%x`` and ``%s`` for fields, and ``%v`` for fields of unknown types.
    """
    for pattern in (_PRINTED, _STREAMED, _MADE):
        for call in pattern.finditer(text):
            line = text[text.rfind("\n", 0, call.start()) + 1 : call.start()]
            if "//" not in line and "#define" not in line and '"' not in line:
                end = text.find(";\n", call.start())
                yield from _statement(
                    pattern, call["macro"], text[call.end() - 1 : min(end + 1 or len(text), call.end() + _LONGEST)]
                )


@cache
def _statement(pattern: re.Pattern[str], macro: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return the severity and the format of each line that a statement prints. The text begins with the call's bracket."""
    if '"' not in text:
        return ()
    cpp = CppText(text)
    closing = _closing(cpp.code, 0)
    arguments, end = cpp.text[1 : closing - 1], cpp.code.find(";", closing)
    closing += sum(map(len, _BUILT.findall(cpp.code[closing:])))
    stream = cpp.code[closing:end].lstrip()
    if stream.startswith("<<") and pattern is not _MADE:
        form = "".join([_expression(part) for part in _split(cpp.text[closing:end], cpp.code[closing:end], "<<")[1:]])
    elif pattern is _STREAMED:
        return ()
    else:
        form = _call(arguments, cpp.code[1 : closing - 1])
    severity = _severity(macro, arguments)
    return tuple([(severity, line) for line in _lines(form)])


def _lines(form: str) -> Iterator[str]:
    for line in form.split("\n"):
        text = shortened(re.sub(r"(?:%[a-z])*(?:%v)+(?:%[a-z])*", "%v", re.sub(r"\s+", " ", line)).strip())
        if is_specific(text) and text.isprintable():
            yield text


def shortened(form: str) -> str:
    """Return a format, with a field for the rest if it is too long."""
    return form if len(form) <= _LONGEST_FORMAT else form[:_LONGEST_FORMAT].rpartition(" ")[0].rstrip("%") + "%v"


def _severity(macro: str, arguments: str) -> str:
    if re.fullmatch(r"\w*VLOG\w*|MicroPrintf|VSILOG[ID]|xnn_log_(?:debug|info)", macro):
        return "" if macro == "MicroPrintf" else "V"
    if macro.startswith(("VSILOG", "ALOG")):
        return macro[-1]
    words = macro.upper().replace("RET_CHECK", "") + " " + arguments.partition(",")[0].upper()
    named = [letter for word, letter in _SEVERITIES if word in words]
    return named[0] if named else "E"


def _closing(code: str, opening: int) -> int:
    depth = 0
    for mark in re.compile(r"[()]").finditer(code, opening):
        depth += 1 if mark[0] == "(" else -1
        if not depth:
            return mark.end()
    return len(code)


def _split(text: str, code: str, separator: str) -> list[str]:
    """Split text at a separator outside brackets and strings."""
    parts, depth, start = [], 0, 0
    for mark in re.compile(r"[()\[\]{}]|" + re.escape(separator)).finditer(code):
        if mark[0] == separator:
            if not depth:
                parts.append(text[start : mark.start()])
                start = mark.end()
        else:
            depth += 1 if mark[0] in "([{" else -1
    return [*parts, text[start:]]


def _literal(text: str) -> str | None:
    """Return the text of adjacent string literals, or None for any other expression."""
    pieces, position = [], 0
    while position < len(text.rstrip()):
        match = _LITERAL.match(text, position)
        if match is None:
            return None
        pieces.append(match[1] if match[2] is None else match[2][3])
        position = match.end()
    try:
        return str(ast.literal_eval('"' + "".join(pieces) + '"')) if pieces else None
    except (SyntaxError, ValueError):
        return None


def _call(arguments: str, code: str) -> str:
    """Return the format of a call: its first text, or the first argument that has texts."""
    for argument in _split(arguments, code, ","):
        literal = _literal(argument)
        if literal is not None:
            return _printf(literal)
        form = _expression(argument)
        if form.strip() != "%v":
            return form
    return ""


def _expression(text: str) -> str:
    """Return the format of an expression: its texts, with fields for everything else."""
    text = text.strip()
    if '"' not in text:
        return "\n" if re.fullmatch(r"(?:std::)?endl|'\\n'", text) else "%d" if _NUMBER.search(text) else "%v"
    literal = _literal(text)
    if literal is not None:
        return literal.replace("%", "%%")
    code = CppText(text).code
    if call := _JOINED.match(text):
        parts = _split(call["in"], CppText(call["in"]).code, ",")
        first = _literal(parts[0])
        if call["call"] in ("StrFormat", "StringPrintf") and first is not None:
            return _printf(first)
        if call["call"] in ("format", "Substitute") and first is not None:
            return re.sub(r"\{[^{}]*\}|\$\d", "%v", first.replace("%", "%%"))
        if call["call"] in ("StrCat", "string"):
            return "".join(map(_expression, parts))
    for separator in ("<<", "+"):
        parts = _split(text, code, separator)
        if len(parts) > 1:
            return "".join(map(_expression, parts))
    return "%v"


def _printf(text: str) -> str:
    return _CONVERSION.sub(lambda match: match[0] if match[0] == "%%" else _TYPES.get(match["type"], "%s"), text)


def _git(tree: str, *arguments: str) -> str:
    result = subprocess.run(["git", "-C", tree, *arguments], capture_output=True, check=True)
    return result.stdout.decode("utf-8", "replace")


def _blobs(tree: str, repository: Repository) -> Iterator[tuple[int, str, str, str]]:
    """Yield the number of the revision, the blob, the path and the component of each file that is read."""
    for number, (revision, _) in enumerate(repository.revisions):
        for row in _git(tree, "ls-tree", "-r", revision).splitlines():
            blob, path = row.split(maxsplit=3)[2:]
            folder = next((pair for pair in repository.components if not pair[0] or path.startswith(f"{pair[0]}/")), None)
            if folder is not None and path.endswith(_SUFFIXES) and _LEFT_OUT.search(path) is None:
                yield number, blob, path, folder[1]


def _contents(tree: str, blobs: Iterable[str]) -> Iterator[tuple[str, str]]:
    names = list(blobs)
    for start in range(0, len(names), 500):
        group = names[start : start + 500]
        process = subprocess.run(
            ["git", "-C", tree, "cat-file", "--batch"], input="\n".join(group).encode(), capture_output=True, check=True
        )
        output, position = process.stdout, 0
        for name in group:
            end = output.index(b"\n", position)
            size = int(output[position:end].split()[-1])
            yield name, output[end + 1 : end + 1 + size].decode("utf-8", "replace")
            position = end + size + 2


def extracted(trees: Mapping[str, str]) -> dict[tuple[str, str, str], tuple[str, str, str]]:
    """Return the severity, first and last release of each statement, by component, file and format."""
    statements: dict[tuple[str, str, str], Found] = {}
    releases: dict[str, list[str]] = defaultdict(list)
    for repository in REPOSITORIES:
        if repository.name not in trees:
            continue
        tree = trees[repository.name]
        files = list(_blobs(tree, repository))
        contents = dict(_contents(tree, {blob for _, blob, _, _ in files}))
        parsed: dict[str, list[tuple[str, str]]] = {}
        group = _group(repository)
        first = len(releases[group])
        releases[group] += [release for _, release in repository.revisions]
        for number, blob, path, component in files:
            if blob not in parsed:
                parsed[blob] = list(statements_in(contents[blob]))
            name = _place(repository, path)
            for severity, form in parsed[blob]:
                if severity == "V" and component not in _VERBOSE:
                    continue
                statements.setdefault((component, f"{group}:{name}", form), Found(severity)).revisions.add(first + number)
        print(f"{repository.name}: {len(contents)} files", file=sys.stderr)
    result = {}
    for (component, file, form), statement in statements.items():
        group, _, name = file.partition(":")
        known = releases[group]
        since, until = min(statement.revisions), max(statement.revisions)
        result[component, name, form] = (
            statement.severity,
            known[since] if since else "",
            known[until] if until + 1 < len(known) else "",
        )
    return result


def _group(repository: Repository) -> str:
    return {"tensorflow/lite": "tflite"}.get(repository.family, repository.family) or repository.name


def _place(repository: Repository, path: str) -> str:
    """Return the name of a file, which has the same name in all repositories of a family."""
    return path.replace("tensorflow/lite/", "tflite/", 1).removeprefix("nn/") if repository.family else path


def table_of(rows: Mapping[tuple[str, str, str], tuple[str, str, str]]) -> str:
    """Return the text of the table. A statement that several files of a component have is written once."""
    names = [release for repository in REPOSITORIES for _, release in repository.revisions]
    order = {release: number for number, release in enumerate(names)}
    once: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for (component, file, form), (severity, since, until) in sorted(rows.items()):
        known = once.setdefault((component, form), (file.rpartition("/")[2], severity, since, until))
        first = min(since, known[2], key=order.__getitem__) if since and known[2] else ""
        last = max(until, known[3], key=order.__getitem__) if until and known[3] else ""
        once[component, form] = (*known[:2], first, last)
    lines, above = [], ("", "")
    for (component, form), (file, severity, since, until) in sorted(
        once.items(), key=lambda row: (row[0][0], row[1][0], row[0][1])
    ):
        lines += [f"= {component}"] if component != above[0] else []
        lines += [f"/ {file}"] if (component, file) != above else []
        lines.append("\t".join([severity, form, since, until]).rstrip("\t"))
        above = component, file
    return TABLE_COLUMNS + "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, or print how many statements each component has."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", action="append", default=[], metavar="ACCOUNT/NAME=PATH", help="the git tree of a repository")
    parser.add_argument("--write", action="store_true", help="write the table instead of comparing it")
    arguments = parser.parse_args()
    trees = dict(pair.split("=", 1) for pair in arguments.tree)
    missing = [repository.name for repository in REPOSITORIES if repository.name not in trees]
    if missing:
        print(f"no tree is given of {', '.join(missing)}")
        return 1
    rows = extracted(trees)
    text = table_of(rows)
    counts: dict[str, int] = defaultdict(int)
    for component, _, _ in rows:
        counts[component] += 1
    print("\n".join([f"{count:6d} {component}" for component, count in counts.items()]))
    print(f"{sum(counts.values())} statements, {len(text.encode()):,} bytes")
    if arguments.write:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        print(f"{FILE.name} has other statements: run make log-statements ARGS=--write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
