"""Open a source: a file, a file in a bundle, an object in a remote store, or bytes."""

from __future__ import annotations

import os
from typing import NamedTuple, TypeAlias, Union

from ..errors import ModelError
from ..foundation.printable import printable
from .address import SEPARATOR
from .bundle_error import BundleError
from .formats import source_fault
from .ranged import Content, RangedView, local_content
from .stores import RemoteFile, is_url

GIVEN_BYTES = "the given bytes"


class NamedBytes(NamedTuple):
    """The bytes of a source, and its name in messages. ``path`` is the path, address or URL, or None if there is none."""

    content: Content | RemoteFile
    name: str = GIVEN_BYTES
    path: str | None = None

    @property
    def on_this_computer(self) -> Content:
        """The bytes of a source that is not in a remote store. Raises ModelError for any other source."""
        if isinstance(self.content, RemoteFile):
            raise ModelError(printable(f"{self.name}: is in a remote store: download the file first"))
        return self.content


ModelSource: TypeAlias = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, RangedView, NamedBytes]
"""A path, an address in a bundle (``app.apk!/assets/m.tflite``), a URL, or bytes."""


def open_source(source: ModelSource) -> NamedBytes:
    """Return the bytes of a source. A file in a remote store is not read yet. Raises ModelError."""
    if isinstance(source, NamedBytes):
        return source
    if isinstance(source, RangedView):
        return NamedBytes(source)
    if isinstance(source, bytes | bytearray | memoryview):
        view = memoryview(source)
        return NamedBytes((view.cast("B") if view.c_contiguous else memoryview(view.tobytes())).toreadonly())
    path = os.fsdecode(source)
    try:
        return NamedBytes(_content(path), path, path)
    except OSError as error:
        raise ModelError(printable(f"{path}: {error.strerror or error}")) from error
    except (ValueError, BundleError) as error:
        raise ModelError(printable(f"{path}: {error}")) from error


def _content(path: str) -> Content | RemoteFile:
    if SEPARATOR in path:
        from .members import member_content

        member = member_content(path)
        if member is not None:
            return member
    if is_url(path):
        return RemoteFile(path)
    if os.path.isdir(path):
        raise BundleError(source_fault(path, b"") or "is a directory, not a model file")
    return local_content(path)
