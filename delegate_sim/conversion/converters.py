"""Find the converters that the user has installed, and their versions."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import OptionError
from ..foundation.printable import install_command, printable
from ..foundation.processes import clean_environment, isolated_python, start
from .sources import SourceKind, SourceModel

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a command, such as each step of a conversion."""

    seconds: float = 900.0
    memory: int = 12 << 30
    """Memory in bytes that all processes of the command together may use. Only Linux enforces this limit."""
    output: int = 4 << 30
    """Total size in bytes of the files that the command may write."""
    printed: int = 256 << 20
    """Number of bytes that the command may print."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a command."""

    status: int | None
    """The exit code. It is negative for a signal, and None if the command could not be started."""
    broken: str
    """The exceeded limit: ``time``, ``memory``, ``output`` or ``printed``. "" if no limit was exceeded.

    The value is ``start`` if the command did not start, or ``left`` if the current process was interrupted or ended.
    """
    printed: str
    """The last part of the command's output."""
    seconds: float
    memory: int
    """Peak memory in bytes, or 0 if memory cannot be measured."""


def run_bounded(command: Sequence[str], folder: str, environment: Mapping[str, str], limits: Limits) -> Ended:
    """Run a command in a folder until the command ends.

    A supervisor process runs the command in its own session. The supervisor ends all processes of the command if a limit is
    exceeded, or if the current process is interrupted or ends.
    """
    job = {"command": list(command), "folder": folder, "environment": clean_environment(environment), **asdict(limits)}
    process = start(
        isolated_python("-S", _SUPERVISOR),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError):  # the process has already ended
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        answer = process.stdout.read()
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()
        process.stdout.close()
    try:
        return Ended(**json.loads(answer))
    except (ValueError, TypeError):
        return Ended(process.returncode, "", "another process ended the supervisor of the converter", 0.0, 0)


@dataclass(frozen=True, slots=True)
class _Known:
    distributions: tuple[str, ...]
    companions: tuple[str, ...]
    kinds: tuple[SourceKind, ...]
    extra: str
    packages: tuple[str, ...] = ()
    """Packages that suggest this converter. If the module of a source function imports such a package, use this converter."""
    needs: tuple[str, ...] = ()
    """Distributions. The interpreter must have at least one of them."""
    instead: str = ""
    """The converter for the same sources that a user installs if both are missing."""


_TENSORFLOW = (
    *("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-rocm"),
    *("tensorflow-aarch64", "tensorflow-cpu-aws", "intel-tensorflow", "tf-nightly", "tf-nightly-cpu", "tf_nightly_rocm"),
)
_LITERT_TORCH = ("litert-torch", "litert-torch-nightly")
_RUNTIMES = ("ai-edge-litert", "ai-edge-litert-nightly")
_KNOWN: Mapping[str, _Known] = {
    "tensorflow": _Known(
        _TENSORFLOW,
        ("keras", "tf-keras", "numpy"),
        (SourceKind.SAVED_MODEL, SourceKind.KERAS, SourceKind.FUNCTION),
        "sweep-tf",
        ("keras", "tensorflow", "tf_keras"),
    ),
    "keras": _Known(
        ("keras", "keras-nightly"),
        (*_LITERT_TORCH, "torch", "litert-converter", *_RUNTIMES, "numpy"),
        (SourceKind.KERAS, SourceKind.FUNCTION),
        "sweep-keras",
        ("keras",),
        needs=_LITERT_TORCH,
        instead="tensorflow",
    ),
    "onnx2tf": _Known(
        ("onnx2tf",),
        (*_TENSORFLOW, "tf-keras", "onnx", "onnxsim", "onnxruntime", *_RUNTIMES, "numpy"),
        (SourceKind.ONNX, SourceKind.FUNCTION),
        "sweep-onnx",
        ("onnx", "onnx_graphsurgeon", "onnxscript"),
    ),
    "litert-torch": _Known(
        _LITERT_TORCH,
        ("torch", "litert-converter", *_RUNTIMES, "torchao"),
        (SourceKind.TORCH_EXPORT, SourceKind.FUNCTION),
        "sweep-torch",
        ("torch", "torchvision"),
    ),
    "litert-quantizer": _Known(
        ("litert-quantizer", "litert-quantizer-nightly"), (*_RUNTIMES, "numpy"), (SourceKind.TFLITE,), "sweep-quantizer"
    ),
    "ai-edge-quantizer": _Known(
        ("ai-edge-quantizer", "ai-edge-quantizer-nightly"),
        (*_RUNTIMES, "numpy"),
        (SourceKind.TFLITE,),
        "sweep-quantizer",
        instead="litert-quantizer",
    ),
}
QUANTIZERS = ("litert-quantizer", "ai-edge-quantizer")
"""The names of the same quantizer, newest first."""


@dataclass(frozen=True, slots=True)
class Converter:
    """A known converter, installed for one Python interpreter or missing. If it is missing, ``version`` is empty."""

    name: str
    version: str = ""
    python: str = ""
    """Path of the interpreter."""
    companions: tuple[tuple[str, str], ...] = ()
    """Versions of Python and of the packages on which the converter's results depend."""
    install: str = ""
    """Installation hint for a missing converter."""
    distribution: str = ""
    """The installed package, such as ``litert-torch-nightly``."""

    @property
    def installed_name(self) -> str:
        """The name of the installed package, or of the converter if it is missing."""
        return self.distribution or self.name

    @property
    def interface(self) -> str:
        """The name of the converter. Releases with other functions have a name of their own: ``onnx2tf-2``."""
        return "onnx2tf-2" if self.name == "onnx2tf" and self.version.partition(".")[0] not in ("0", "1") else self.name

    @property
    def is_missing(self) -> bool:
        """True if no interpreter has the converter."""
        return not self.version


@dataclass(frozen=True, slots=True)
class Route:
    """The steps from a source model to a ``.tflite`` file.

    A converter writes a float model or a quantized model. An optional quantizer reads the float model.
    """

    converter: Converter
    quantizer: Converter | None = None

    @property
    def steps(self) -> tuple[Converter, ...]:
        """The converter, and then the quantizer if there is one."""
        return (self.converter,) if self.quantizer is None else (self.converter, self.quantizer)

    @property
    def name(self) -> str:
        """The names of the converter and the quantizer."""
        return " + ".join([step.name for step in self.steps])

    @property
    def version(self) -> str:
        """The versions of the converter and the quantizer."""
        return " + ".join([step.version or "missing" for step in self.steps])

    @property
    def is_missing(self) -> bool:
        """True if the converter or the quantizer is missing."""
        return any(step.is_missing for step in self.steps)


_PROBE = """\
import importlib.metadata as metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except Exception:
        pass
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "packages": found}))
"""
_PROBE_LIMITS = Limits(60.0, 1 << 30, 1 << 20, 1 << 20)


def find_converters(pythons: Sequence[str] | None = None) -> tuple[Converter, ...]:
    """Find the known converters without importing them. Missing converters come last.

    If several interpreters have a converter, the result has one entry for each interpreter. ``pythons`` are paths of
    interpreters, by default only the current interpreter. Raise OptionError for an interpreter that cannot be run.
    """
    versions = [(python, _versions(python)) for python in dict.fromkeys(map(_interpreter, pythons or [sys.executable]))]
    present, missing = [], []
    for name, known in _KNOWN.items():
        own = [_converter(name, known, python, packages) for python, packages in versions]
        present += [converter for converter in own if converter is not None]
        if not any(own) and not known.instead:
            missing.append(Converter(name, install=install_command(known.extra)))
    names = {converter.name for converter in present}
    replaced = {_KNOWN[name].instead for name in names}
    return (*present, *[converter for converter in missing if converter.name not in replaced])


def _converter(name: str, known: _Known, python: str, packages: Mapping[str, str]) -> Converter | None:
    distribution = next((distribution for distribution in known.distributions if distribution in packages), None)
    if distribution is None or (known.needs and not any(needed in packages for needed in known.needs)):
        return None
    beside = [(companion, packages[companion]) for companion in known.companions if companion in packages]
    return Converter(name, packages[distribution], python, (("python", packages["python"]), *beside), distribution=distribution)


def _interpreter(text: str) -> str:
    """Return the path of an interpreter. Links are not resolved, because they may lead out of the virtual environment."""
    if os.path.isdir(text):
        inside = [os.path.join(text, *parts) for parts in (("bin", "python"), ("Scripts", "python.exe"))]
        text = next((path for path in inside if os.path.isfile(path)), text)
    if os.path.dirname(text):
        return os.path.abspath(text)
    # Windows, and an empty entry of PATH, would find a program of the current folder.
    path = shutil.which(text, path=clean_environment().get("PATH", os.defpath))
    return path if path is not None and os.path.isabs(path) else os.path.abspath(text)


def _versions(python: str) -> Mapping[str, str]:
    names = sorted({name for known in _KNOWN.values() for name in (*known.distributions, *known.companions)})
    with tempfile.TemporaryDirectory() as folder:
        # In isolated mode, packages in the current folder do not count as installed.
        ended = run_bounded(isolated_python("-c", _PROBE, *names, python=python), folder, os.environ, _PROBE_LIMITS)
    try:
        answer = json.loads(ended.printed.splitlines()[-1])
        packages = {str(name): str(version) for name, version in answer["packages"].items()}
        return {**packages, "python": str(answer["python"])}
    except (ValueError, IndexError, KeyError, TypeError, AttributeError):
        reason = ended.printed.strip().splitlines()[-1:] or ["no answer"]
        raise OptionError(printable(f"{python}: is not a working Python interpreter: {reason[0][:200]}")) from None


def routes(source: SourceModel, converters: Sequence[Converter]) -> tuple[Route, ...]:
    """Return the routes that accept a source, including routes with missing converters.

    A function can return any kind of model. If the function's module imports a package that suggests a converter, only the
    suggested converters are used. Otherwise, all converters are used, and some of them may fail.
    """
    quantizers = [converter for converter in converters if converter.name in QUANTIZERS]
    result: list[Route] = []
    for converter in converters:
        if _accepts(_KNOWN[converter.name], source):
            result.append(Route(converter))
            beside = [quantizer for quantizer in quantizers if quantizer.python == converter.python] or quantizers
            result += [Route(converter, quantizer) for quantizer in beside[:1]]
    return tuple(result)


def _accepts(known: _Known, source: SourceModel) -> bool:
    if source.kind not in known.kinds:
        return False
    hinted = {package for other in _KNOWN.values() for package in other.packages} & source.packages
    return source.kind is not SourceKind.FUNCTION or not hinted or bool(hinted.intersection(known.packages))
