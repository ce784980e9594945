"""Read a model from the bytes of a source."""

from __future__ import annotations

from ..bundles.bundle_error import BundleError
from ..bundles.formats import MODEL, format_of, source_fault
from ..bundles.opening import GIVEN_BYTES, ModelSource, NamedBytes, open_source
from ..bundles.stores import RemoteFile
from ..errors import ModelError
from ..foundation.printable import printable
from .flatbuffer import Flatbuffer, Malformed, flatbuffer_of
from .model import IDENTIFIER, Model
from .parsing import read_model

_SCHEMA_VERSION = 3
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def load(source: ModelSource, *, any_identifier: bool = False) -> Model:
    """Read a model from a path, from an address in a bundle (``app.apk!/assets/m.tflite``), from a URL, or from bytes.

    A file of more than 64 MiB is mapped into memory. Such a file must not become shorter while the model is used. In a model
    from a URL (``s3://...``, ``https://...``), zeros replace large weights. With ``any_identifier``, a model with a wrong
    identifier is accepted. Raise ModelError with a line that says which file is faulty, and why.
    """
    opened = open_source(source)
    try:
        return _model(opened, any_identifier)
    except (Malformed, BundleError) as error:
        raise ModelError(printable(f"{opened.name}: {error}")) from error


def require_identifier(model: Model) -> None:
    """Raise ModelError if a model has the wrong identifier."""
    if model.identifier != IDENTIFIER:
        raise ModelError(printable(f"{model.path or GIVEN_BYTES}: {_identifier_fault(model.identifier)}"))


def _identifier_fault(identifier: bytes) -> str:
    """Return a message that quotes only identifiers of TFLite files. The bytes of any other file may be secret."""
    opening = f"is {identifier!r}, not" if identifier.startswith(IDENTIFIER[:3]) else "is not"
    return f"is not a TFLite model: the identifier at offset 4 {opening} {IDENTIFIER!r}"


def _model(opened: NamedBytes, any_identifier: bool) -> Model:
    content, digest = opened.content, ""
    if isinstance(content, RemoteFile) or not (isinstance(content, memoryview) or content.is_local):
        from .remote import remote_content

        content, digest, _ = remote_content(content)
    beginning = bytes(content[:512])
    if not beginning:
        raise Malformed("is empty")
    if beginning.startswith(_LFS_POINTER):
        raise Malformed("is a Git LFS pointer, not the model itself: run git lfs pull")
    if fault := source_fault(opened.name, beginning):
        raise Malformed(fault)
    if format_of(beginning, opened.name) not in (MODEL, None):
        raise Malformed(_bundle_fault(opened.path))
    buffer = flatbuffer_of(content)
    identifier = bytes(content[4:8])
    if identifier != IDENTIFIER and not (any_identifier and _is_otherwise_a_model(buffer)):
        raise Malformed(_identifier_fault(identifier))
    return read_model(buffer, opened.path, digest)


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


def _is_otherwise_a_model(buffer: Flatbuffer) -> bool:
    """Return whether a file with the wrong identifier has the known schema version and at least one subgraph."""
    try:
        root = buffer.root("Model")
        return root.numbers("version")[0] == _SCHEMA_VERSION and root.lengths("subgraphs", "the subgraphs")[0] > 0
    except Malformed:
        return False
