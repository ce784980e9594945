"""Source models: a SavedModel, a Keras, ONNX or torch.export file, or a function that returns a model."""

from __future__ import annotations

import ast
import os
import re
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ..errors import ModelError
from ..foundation.files import open_input, read_whole
from ..foundation.printable import printable
from .cache import file_digest, files_below, files_digest


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module. To import ``module``, ``folder`` must be on Python's path."""

    path: str
    folder: str
    module: str
    name: str


def find_function(text: str) -> Function | None:
    """Return the function that ``text`` names, or None if ``text`` has another form.

    Raise OSError if there is no such function.
    """
    place, separator, name = text.rpartition(":")
    if not separator or not place or not name.isidentifier():
        return None
    if place.endswith(".py"):
        path = os.path.abspath(place)
        module = os.path.basename(path)[: -len(".py")]
        if not module.isidentifier():
            raise OSError(f"{module!r} is not a valid module name")
        function = Function(path, os.path.dirname(path), module, name)
    elif all(part.isidentifier() for part in place.split(".")):
        function = _function_of_module(place, name)
    else:
        return None
    if name not in _functions(function.path):
        raise OSError(f"{function.path} defines no {name!r}")
    return function


def _function_of_module(module: str, name: str) -> Function:
    parts = module.split(".")
    for folder in (os.getcwd(), *sys.path):
        base = os.path.join(os.path.abspath(folder), *parts)
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(path):
                return Function(path, os.path.abspath(folder), module, name)
    raise OSError(f"there is no module {module!r} here or on Python's path")


def _functions(path: str) -> set[str]:
    names = set()
    for node in _tree(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def packages_imported(path: str) -> frozenset[str]:
    """Return the top-level packages that a module imports in any place. Raise OSError if the module cannot be read."""
    packages = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    return frozenset(packages)


def _tree(path: str) -> ast.Module:
    try:
        return ast.parse(read_whole(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise OSError(f"is not valid Python: {error}") from None


class SourceKind(Enum):
    """The formats of a source model."""

    SAVED_MODEL = "saved_model"
    KERAS = "keras"
    ONNX = "onnx"
    TORCH_EXPORT = "torch_export"
    FUNCTION = "function"
    TFLITE = "tflite"
    """A float model in the TFLite format, which a converter writes and a quantizer reads."""


@dataclass(frozen=True, slots=True)
class SourceModel:
    """A source model with its absolute path. For a function, ``path`` is the file of the module."""

    kind: SourceKind
    path: str
    digest: str
    """The SHA-256 of the source file or of the function's module. For a SavedModel, of all its files and file names."""
    text: str
    """The name that the user gave."""
    function: str = ""
    module: str = ""
    folder: str = ""
    """The folder from which ``module`` can be imported."""
    packages: frozenset[str] = frozenset()
    """The top-level packages that a function's module imports."""
    may_run_code: bool = False
    """True if the user allows converters to run code that is in the file."""


_ENDINGS: Mapping[str, SourceKind] = {
    ".keras": SourceKind.KERAS,
    ".h5": SourceKind.KERAS,
    ".hdf5": SourceKind.KERAS,
    ".onnx": SourceKind.ONNX,
    ".pt2": SourceKind.TORCH_EXPORT,
}
_SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")
FORMS = "a SavedModel folder, .keras, .h5, .onnx, .pt2, module:function or file.py:function"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_LOCATION = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])")
"""Matches the bytes before the path of an external weights file in an ONNX file.

The last byte of the match is the length of the path.
"""
_MOST_NAME = 127

VARIABLE = "DELEGATE_SIM_RUN_MODEL_CODE"
"""If this environment variable is 1, converters may run the code of all source models."""


def find_source(text: str, *, run_model_code: bool = False) -> SourceModel:
    """Find a source model by its path, by ``module:function`` or by ``file.py:function``. No code is run or imported.

    ``run_model_code`` allows converters to run code that is in the file, such as a Lambda layer. Raise ModelError if there is no
    such model, or if its format is unknown.
    """
    try:
        return replace(_source(text), may_run_code=run_model_code or os.environ.get(VARIABLE) == "1")
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelError(printable(f"{text}: {words}")) from None


def _source(text: str) -> SourceModel:
    path = os.path.abspath(text)
    if os.path.isdir(path):
        if not any(os.path.isfile(os.path.join(path, name)) for name in _SAVED_MODEL_FILES):
            raise OSError("a folder without saved_model.pb is not a SavedModel")
        return SourceModel(SourceKind.SAVED_MODEL, path, files_digest(files_below(path)), text)
    if os.path.lexists(path):
        return _file_source(path, text)
    function = find_function(text)
    if function is not None:
        return SourceModel(
            SourceKind.FUNCTION,
            function.path,
            file_digest(function.path),
            text,
            function.name,
            function.module,
            function.folder,
            packages_imported(function.path),
        )
    raise OSError(f"does not exist; give {FORMS}")


def _file_source(path: str, text: str) -> SourceModel:
    ending = os.path.splitext(path)[1].lower()
    kind = _ENDINGS.get(ending)
    if kind is None:
        raise OSError(f"cannot be converted: give {FORMS}")
    with open_input(path) as file:
        begin = file.read(len(_HDF5))
        file.seek(0)
        if ending in (".h5", ".hdf5"):
            is_sound = begin == _HDF5
        elif kind is SourceKind.ONNX:
            is_sound = bool(begin)
        else:
            is_sound = zipfile.is_zipfile(file)
    if not is_sound:
        raise OSError(f"is not a valid {ending} file")
    if kind is SourceKind.ONNX:
        outside = _external_weights(path)
        digest = files_digest([("", path), *outside]) if outside else file_digest(path)
    else:
        digest = file_digest(path)
    return SourceModel(kind, path, digest, text)


def _external_weights(path: str) -> list[tuple[str, str]]:
    names: set[str] = set()
    rest = b""
    with open_input(path) as file:
        while piece := file.read(1 << 20):
            content = rest + piece
            for match in _LOCATION.finditer(content):
                name = content[match.end() : match.end() + match[1][0]]
                if len(name) == match[1][0]:
                    names.add(name.decode("utf-8", "replace"))
            rest = content[-(_MOST_NAME + 16) :]
    # A file may have a million spellings of one name, such as ./w and .//w. Converters refuse files outside the folder.
    spelled = {os.path.normpath(name) for name in names if "\0" not in name and not os.path.isabs(name)}
    folder = os.path.dirname(path)
    weights = [(name, os.path.join(folder, name)) for name in sorted(spelled) if name.split(os.sep)[0] != os.pardir]
    return [(name, file) for name, file in weights if os.path.isfile(file)]
