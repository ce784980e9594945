"""What is converted: a SavedModel, a Keras file, an ONNX file, a program of torch.export, or a function that returns one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class SourceKind(Enum):
    """The forms of a source model."""

    SAVED_MODEL = "saved_model"
    KERAS = "keras"
    ONNX = "onnx"
    TORCH_EXPORT = "torch_export"
    FUNCTION = "function"
    TFLITE = "tflite"
    """A converted float model, which a quantiser goes on from."""


@dataclass(frozen=True)
class Source:
    """A source model: ``path`` is absolute; for a function it is the module's file, and ``function`` is its name in there."""

    kind: SourceKind
    path: str
    digest: str
    """SHA-256 of the content: of the file, of a folder's files with their names, of a function's module."""
    text: str
    """As the user named it."""
    function: str = ""


def find_source(text: str) -> Source:
    """Find a source model by its path, or ``module:function`` or ``file.py:function``; nothing of it is run or imported.

    Raises ModelError where there is none, or it is of no known form.
    """
    raise NotImplementedError
