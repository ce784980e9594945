"""Addresses of models inside bundles: ``bundle.task!/model.tflite``. A bundle may be inside another bundle."""

from __future__ import annotations

import os

from .stores import is_url

SEPARATOR = "!/"


def join_address(*parts: str) -> str:
    """Return the address of a member.

    >>> join_address("app.apk", "assets/llm.task", "decoder")
    'app.apk!/assets/llm.task!/decoder'
    """
    return SEPARATOR.join(parts)


def split_address(path: str) -> tuple[str, ...]:
    """Split an address into the file and the names of the nested members.

    If the path is not an address, return only the unchanged path.

    A file name may contain the separator. The file part of a path therefore ends at the first separator that follows the name
    of an existing file. The file part of a URL ends at the first separator.
    """
    if is_url(path):
        return tuple(path.split(SEPARATOR))
    at = path.find(SEPARATOR)
    while at > 0:
        if os.path.isfile(path[:at]):
            return (path[:at], *path[at + len(SEPARATOR) :].split(SEPARATOR))
        at = path.find(SEPARATOR, at + 1)
    return (path,)
