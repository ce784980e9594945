"""Addresses of models inside bundles: ``bundle.task!/model.tflite``, nested as needed."""

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
    """Return the file and the members on the path of an address; a path that is no address is returned alone.

    The file is the part before the first separator at which a file exists, since a file's name may contain the separator itself.
    In a URL, the first separator counts.
    """
    if is_url(path):
        return tuple(path.split(SEPARATOR))
    at = path.find(SEPARATOR)
    while at > 0:
        if os.path.isfile(path[:at]):
            return (path[:at], *path[at + len(SEPARATOR) :].split(SEPARATOR))
        at = path.find(SEPARATOR, at + 1)
    return (path,)
