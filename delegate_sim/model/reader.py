"""Open a model: a file, a file in a bundle, an object in a remote store, or bytes."""

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
from .flatbuffer import Flatbuffer, Malformed, flatbuffer_of
from .model import IDENTIFIER, Model
from .parsing import read_model

_GIVEN_BYTES = "the given bytes"


def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview, *, any_identifier: bool = False) -> Model:
    """Read a model from a path, from an address in a bundle (``app.apk!/assets/m.tflite``), from a URL, or from bytes.

    A file of more than 64 MiB is mapped into memory. Such a file must not become shorter while the model is used. In a model
    from a URL (``s3://...``, ``https://...``), zeros replace large weights. With ``any_identifier``, a model with a wrong
    identifier is accepted. Raise ModelError with a line that says which file is faulty, and why.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return load_content(source, any_identifier)
    return _load_path(os.fsdecode(source), any_identifier)


def load_content(content: bytes | bytearray | Content, any_identifier: bool = False, label: str = _GIVEN_BYTES) -> Model:
    """Read a model from bytes. Raise ModelError, with the label as the name of the file, if the bytes are not a valid model."""
    own = content if isinstance(content, RangedView) else _bytes_of(memoryview(content))
    return _read_named(own, None, label, any_identifier)


def _load_path(path: str, any_identifier: bool) -> Model:
    try:
        content, digest = _content(path)
    except OSError as error:
        raise _model_error(path, error.strerror or str(error)) from error
    except (ValueError, Malformed, BundleError) as error:
        raise _model_error(path, str(error)) from error
    return _read_named(content, path, path, any_identifier, digest)


def require_identifier(model: Model) -> None:
    """Raise ModelError if a model has the wrong identifier."""
    if model.identifier != IDENTIFIER:
        raise _model_error(model.path or _GIVEN_BYTES, _identifier_fault(model.identifier))


def _identifier_fault(identifier: bytes) -> str:
    """Return a message that quotes only identifiers of TFLite files. The bytes of any other file may be secret."""
    opening = f"is {identifier!r}, not" if identifier.startswith(IDENTIFIER[:3]) else "is not"
    return f"is not a TFLite model: the identifier at offset 4 {opening} {IDENTIFIER!r}"


def _content(path: str) -> tuple[Content, str]:
    """Return the bytes at a path, an address or a URL, and a digest.

    For a URL, the digest covers the parts that were read. In all other cases, it is empty.
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


_SCHEMA_VERSION = 3
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def _read_named(content: Content, path: str | None, label: str, any_identifier: bool, digest: str = "") -> Model:
    if bytes(content[: len(_LFS_POINTER)]) == _LFS_POINTER:
        raise _model_error(label, "is a Git LFS pointer, not the model itself: run git lfs pull")
    beginning = bytes(content[:512])
    source = source_format(label, beginning)
    if source is not None:
        raise _model_error(label, _source_fault(source))
    if format_of(beginning, label) not in (MODEL, None):
        raise _model_error(label, _bundle_fault(path))
    try:
        buffer = flatbuffer_of(content)
        identifier = bytes(content[4:8])
        if identifier != IDENTIFIER and not (any_identifier and _is_otherwise_a_model(buffer)):
            raise Malformed(_identifier_fault(identifier))
        return read_model(buffer, path, digest)
    except (Malformed, BundleError) as error:
        raise _model_error(label, str(error)) from error


def _is_otherwise_a_model(buffer: Flatbuffer) -> bool:
    """Return whether a file with the wrong identifier has the known schema version and at least one subgraph."""
    try:
        root = buffer.root("Model")
        return root.numbers("version")[0] == _SCHEMA_VERSION and root.lengths("subgraphs", "the subgraphs")[0] > 0
    except Malformed:
        return False
