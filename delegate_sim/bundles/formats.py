"""Detect the format of a file from its first bytes."""

from __future__ import annotations

import os

from ..foundation.files import open_input

MODEL, ZIP, TAR, COMPRESSED_TAR, LITERTLM, TASK = "model", "zip", "tar", "compressed tar", "litertlm", "task"

MODEL_SUFFIXES = (".tflite", ".lite")
"""File suffixes of models, used only to search folders."""
BUNDLE_SUFFIXES = (".task", ".litertlm", ".zip", ".apk", ".aab", ".aar", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""File suffixes of bundles, used only to search folders."""
SEARCHED_SUFFIXES = (*MODEL_SUFFIXES, *BUNDLE_SUFFIXES)

LITERTLM_SUFFIX, TASK_SUFFIX = ".litertlm", ".task"
_MODEL_IDENTIFIER = b"TFL3"
_ZIP_MEMBER, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_ZEROS = 4
"""Largest number of padding bytes (value 0) before the first member of a zip archive that MediaPipe's bundler writes."""
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
_COMPRESSED_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def format_of(beginning: bytes, name: str) -> str | None:
    """Return the format of a file, or None if the file is neither a model nor a bundle.

    ``beginning`` contains the first bytes of the file; 512 bytes are enough.
    """
    if beginning[4:8] == _MODEL_IDENTIFIER:
        return MODEL
    if beginning[:4] == _EMPTY_ZIP or _ZIP_MEMBER in [
        beginning[at : at + 4] for at in range(_ZEROS + 1) if not any(beginning[:at])
    ]:
        return ZIP
    if beginning[:8] == b"LITERTLM":
        return LITERTLM
    if beginning[257:262] == b"ustar":
        return TAR
    if beginning.startswith(_COMPRESSED) and name.lower().endswith(_COMPRESSED_SUFFIXES):
        return COMPRESSED_TAR
    return None


_SOURCE_FORMATS = {
    ".keras": "a Keras model",
    ".h5": "a Keras model (HDF5)",
    ".hdf5": "a Keras model (HDF5)",
    ".onnx": "an ONNX model",
    ".pt2": "a PyTorch model (torch.export)",
}
_SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")
_HDF5 = b"\x89HDF\r\n\x1a\n"


def source_format(path: str, beginning: bytes) -> str | None:
    """Return the name of a source model's format, or None if the path is not a source model.

    A source model is not converted to TFLite yet. ``beginning`` contains the first bytes of the file and may be empty. A
    folder is a source model only if it is a SavedModel.
    """
    if os.path.isdir(path):
        return "a SavedModel" if any(os.path.isfile(os.path.join(path, name)) for name in _SAVED_MODEL_FILES) else None
    if beginning[4:8] == _MODEL_IDENTIFIER:
        return None
    if os.path.basename(path) in _SAVED_MODEL_FILES:
        return "the graph of a SavedModel folder"
    if beginning.startswith(_HDF5):
        return _SOURCE_FORMATS[".h5"]
    return _SOURCE_FORMATS.get(os.path.splitext(path)[1].lower())


def source_fault(path: str, beginning: bytes) -> str:
    """Return the error message for a source model or a log in place of a TFLite model, or "" for all other files."""
    source = source_format(path, beginning)
    if beginning and beginning[4:8] != _MODEL_IDENTIFIER and path.lower().endswith(".log"):
        return "is a log, not a TFLite model: read it with delegate-sim explain --log"
    return "" if source is None else f"is {source}, not a TFLite model: convert it with delegate-sim sweep"


def format_at(path: str) -> str | None:
    """Return the format of a file, as ``format_of`` does, or None if the file cannot be read.

    A zip archive with the suffix ``.task`` is a file of MediaPipe. If the first bytes of a LiteRT-LM bundle are damaged, the
    suffix decides.
    """
    try:
        if not os.path.isfile(path):
            return None
        with open_input(path) as file:
            form = format_of(file.read(512), path)
    except OSError:
        return None
    if form is None and path.lower().endswith(LITERTLM_SUFFIX):
        return LITERTLM
    return TASK if form == ZIP and path.lower().endswith(TASK_SUFFIX) else form
