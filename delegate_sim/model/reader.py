"""Open a model: a file, a member of a bundle, an object in a remote store, or bytes."""

from __future__ import annotations

import os

from ..bundles.address import SEPARATOR
from ..bundles.bundle_error import BundleError
from ..bundles.formats import MODEL, format_of, source_format
from ..bundles.local_files import local_content
from ..bundles.ranged import Content, RangedView
from ..bundles.stores import is_url
from ..errors import ModelError
from ..foundation.printable import printable
from .flatbuffer import Malformed, flatbuffer_of
from .model import Model
from .parsing import read_model


def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path, from an address in a bundle (``app.apk!/assets/m.tflite``), from a URL, or from bytes.

    A file of more than 64 MiB is mapped into memory. Such a file must not become shorter while the model is used. In a model
    from a URL (``s3://...``, ``https://...``), large weights are replaced by zeros. Raise ModelError with a line that names the
    file and the fault.
    """
    return load_content(source) if isinstance(source, bytes | bytearray | memoryview) else _load_path(os.fsdecode(source))


def load_content(content: bytes | bytearray | Content) -> Model:
    """Read a model from bytes. Raise ModelError."""
    if isinstance(content, RangedView):
        return _read_named(content, None, "the given bytes")
    return _read_named(_bytes_of(memoryview(content)), None, "the given bytes")


def _load_path(path: str) -> Model:
    try:
        content, digest = _content(path)
    except OSError as error:
        raise _model_error(path, error.strerror or str(error)) from error
    except (ValueError, Malformed, BundleError) as error:
        raise _model_error(path, str(error)) from error
    return _read_named(content, path, path, digest)


def _content(path: str) -> tuple[Content, str]:
    """Return the bytes at a path, an address or a URL, and a digest.

    The digest covers the parts that were read from a URL. For a path or an address, the digest is empty.
    """
    member = None
    if SEPARATOR in path:
        from ..bundles.members import member_content

        member = member_content(path)
    if isinstance(member, memoryview) or (member is not None and member.is_local):
        return member, ""
    if not is_url(path):
        return _file_content(path), ""
    from ..bundles.stores import RemoteFile
    from .remote import remote_content

    content, digest, _ = remote_content(RemoteFile(path) if member is None else member)
    return content, digest


def _bytes_of(view: memoryview) -> memoryview:
    return (view.cast("B") if view.c_contiguous else memoryview(view.tobytes())).toreadonly()


def _file_content(path: str) -> Content:
    if os.path.isdir(path):
        saved_model = source_format(path, b"")
        raise Malformed(_source_fault(saved_model) if saved_model else "is a directory, not a model file")
    content = local_content(path)
    if not content:
        raise Malformed("is empty")
    return content


def _model_error(label: str, fault: str) -> ModelError:
    return ModelError(printable(f"{label}: {fault}"))


def _bundle_fault(path: str | None) -> str:
    """Return the error message for a bundle or an archive that was given in place of a model."""
    if path is None:
        return "are a bundle or an archive: give the path of the file, or the bytes of one of its models"
    from ..bundles.members import models_in

    try:
        models = models_in(path)
    except (BundleError, OSError) as error:
        return str(error)
    if not models:
        return "is a bundle or an archive that holds no model"
    return f"is a bundle that holds {len(models)} model{'' if len(models) == 1 else 's'}: name one, such as {models[0]}"


def _source_fault(source: str) -> str:
    """Return the error message for a source model that was given in place of a TFLite model.

    ``source`` describes the format of the source model.
    """
    return f"is {source}, not a TFLite model: convert it with delegate-sim sweep"


_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def _read_named(content: Content, path: str | None, label: str, digest: str = "") -> Model:
    if bytes(content[: len(_LFS_POINTER)]) == _LFS_POINTER:
        raise _model_error(label, "is a Git LFS pointer, not the model itself: run git lfs pull")
    beginning = bytes(content[:512])
    source = source_format(label, beginning)
    if source is not None:
        raise _model_error(label, _source_fault(source))
    if format_of(beginning, label) not in (MODEL, None):
        raise _model_error(label, _bundle_fault(path))
    try:
        return read_model(flatbuffer_of(content), path, digest)
    except (Malformed, BundleError) as error:
        raise _model_error(label, str(error)) from error
