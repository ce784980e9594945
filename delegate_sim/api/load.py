"""Read a model: ``delegate_sim.load``."""

from __future__ import annotations

import os

from ..model.model import Model
from .calls import model_of, public


@public
def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path or from bytes.

    A file larger than 64 MiB is mapped into memory, so the file must not become shorter while the model is in use. If the
    identifier of a model is not ``TFL3``, only TensorFlow Lite Micro accepts the model, because it ignores the identifier.
    Raises ModelError if the model cannot be read.
    """
    return model_of(source, any_identifier=True)
