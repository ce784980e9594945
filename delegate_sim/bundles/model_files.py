"""Find the model files in a folder or bundle, or all files that match a pattern.

Loops of symbolic links are not followed. The functions ``glob`` and ``os.walk`` of the standard library are not used, because
they either ignore linked folders or follow loops of links until the path is too long.
"""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import translate

from ..foundation.work_budget import spend_steps, work_budget
from .address import SEPARATOR
from .bundle_error import BundleError
from .formats import BUNDLE_SUFFIXES, MODEL, SEARCHED_SUFFIXES, format_at
from .stores import is_pattern, is_url, models_at

_MOST_ENTRIES = 8
_STEPS_FOR_A_FOLDER, _STEPS_FOR_AN_ENTRY = 10, 2
_STEPS_FOR_A_CHARACTER, _STEPS_FOR_A_MATCH, _POSITIONS_IN_A_STEP, _PAIRS_IN_A_STEP = 4, 5, 2, 1_000


def models_below(folder: str, activity: str | None = None) -> list[str]:
    """Return the models and bundles in a folder and its subfolders, sorted. Hidden files and folders are skipped.

    If an ``activity`` is given, each entry of a folder costs steps of the budget of work. The activity is named in the message.
    """
    return sorted(
        os.path.join(folder, *parts)
        for parts in _walk(folder, None, activity)
        if parts[-1].lower().endswith(SEARCHED_SUFFIXES) and not any(part.startswith(".") for part in parts)
    )


def matching_files(pattern: str, root: str = "", activity: str | None = None) -> list[str]:
    """Return the files that match a pattern, sorted. Their paths have slashes as separators on every system.

    A relative pattern starts at ``root``. A hidden file or folder matches only if its part of the pattern begins with a dot.
    If the last part of the pattern has a wildcard but no suffix, only models and bundles match. ``activity`` is used as in
    ``models_below``.
    """
    pattern = pattern.replace(os.sep, "/")
    parts = pattern.split("/")
    first = next((number for number, part in enumerate(parts) if is_pattern(part)), len(parts) - 1)
    start, rest = "/".join(parts[:first]), [part for part in parts[first:] if part not in ("", ".")]
    if not rest:
        return []
    if first and not start:
        start = "/"
    only_models = "." not in rest[-1] and is_pattern(rest[-1])
    depth = None if "**" in rest else len(rest)
    if rest[-1] == "**":
        rest = [*rest, "*"]
    matching = FilePattern("/".join(rest))
    files = [
        "/".join([*([start.rstrip("/")] if start else []), *names])
        for names in _walk(os.path.join(root, start) if start else root or ".", depth, activity)
        if matching.matches("/".join(names), activity) and (not only_models or names[-1].lower().endswith(SEARCHED_SUFFIXES))
    ]
    return sorted(files)


@dataclass(frozen=True)
class FilePattern:
    """A pattern of paths with slashes. The part ``**`` matches any number of folders, even none.

    >>> FilePattern("**/*.tflite").matches("a/b/c.tflite")
    True
    """

    text: str

    def matches(self, path: str, activity: str | None = None) -> bool:
        """Return whether a path with slashes matches. If an ``activity`` is given, the work costs steps of the budget."""
        names = path.split("/")
        if activity is not None:
            steps = len(names) * len(self._parts) // _POSITIONS_IN_A_STEP + len(path) * len(self.text) // _PAIRS_IN_A_STEP
            spend_steps(_STEPS_FOR_A_MATCH + steps, activity)
        reached = self._skipped({0})
        for name in names:
            reached = self._skipped(self._step(reached, name))
        return len(self._parts) in reached

    @functools.cached_property
    def _parts(self) -> Sequence[tuple[str, re.Pattern[str]]]:
        spend_steps(_STEPS_FOR_A_CHARACTER * len(self.text), "reading patterns")
        parts = self.text.split("/")
        kept = [part for before, part in zip([None, *parts], parts, strict=False) if part != "**" or before != "**"]
        return [(part, re.compile(translate(part))) for part in kept]

    def _step(self, reached: set[int], name: str) -> set[int]:
        positions = set()
        for position in reached:
            if position == len(self._parts):
                continue
            part, expression = self._parts[position]
            if part == "**":
                if not name.startswith("."):
                    positions.add(position)
            elif expression.match(name) and (not name.startswith(".") or part.startswith(".")):
                positions.add(position + 1)
        return positions

    def _skipped(self, reached: set[int]) -> set[int]:
        """Return the reached positions and the position after each reached ``**``, which may match no folder."""
        return reached | {
            position + 1 for position in reached if position < len(self._parts) and self._parts[position][0] == "**"
        }


def _walk(folder: str, depth: int | None, activity: str | None) -> Iterator[tuple[str, ...]]:
    """Yield the path of each file in a folder, as a tuple of at most ``depth`` parts.

    Links to a parent folder are not followed. Of many links to the same folder, only a few are followed. Unreadable folders
    are skipped.
    """
    entered: Counter[tuple[int, int]] = Counter()
    waiting: list[tuple[str, tuple[str, ...], frozenset[tuple[int, int]]]] = [(folder, (), _above(folder))]
    while waiting:
        path, parts, above = waiting.pop()
        try:
            status = os.stat(path)
            identity = (status.st_dev, status.st_ino)
            if identity in above or entered[identity] == _MOST_ENTRIES:
                continue
            entered[identity] += 1
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        if activity is not None:
            spend_steps(_STEPS_FOR_A_FOLDER + _STEPS_FOR_AN_ENTRY * len(entries), activity)
        for entry in entries:
            names = (*parts, entry.name)
            if _is_folder(entry):
                if depth is None or len(names) < depth:
                    waiting.append((entry.path, names, above | {identity}))
            elif depth is None or len(names) <= depth:
                yield names


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # for example, a link to itself
        return False


def _above(folder: str) -> frozenset[tuple[int, int]]:
    folders = set()
    path = os.path.realpath(folder)
    while (parent := os.path.dirname(path)) != path:
        path = parent
        with suppress(OSError):
            status = os.stat(path)
            folders.add((status.st_dev, status.st_ino))
    return frozenset(folders)


def stands_for_many(path: str) -> bool:
    """Return whether a path is a folder or a pattern. An existing file is not a pattern, even if its name contains a wildcard."""
    if is_url(path):
        return is_pattern(path)
    return os.path.isdir(path) or (is_pattern(path) and not os.path.exists(path))


def files_for(path: str) -> list[str]:
    """Return the models in a folder or a bundle, or the models that match a pattern.

    Return any other path unchanged. If a bundle cannot be read or contains no model, return the bundle's path, so that the
    caller reports the problem.
    """
    if is_url(path):
        if SEPARATOR in path:
            return [path]
        with suppress(BundleError):
            return [model for url in models_at(path) for model in _models_at(url)] or [path]
        return [path]
    if not stands_for_many(path):
        return _models_of(path)
    files = models_below(path) if os.path.isdir(path) else matching_files(path)
    return [model for file in files for model in _models_of(file)] or [path]


def _models_at(url: str) -> list[str]:
    return _models_in(url) if url.lower().endswith(BUNDLE_SUFFIXES) else [url]


def _models_of(path: str) -> list[str]:
    return [path] if format_at(path) in (MODEL, None) else _models_in(path)


def _models_in(path: str) -> list[str]:
    from .members import models_in

    with work_budget(is_new=True), suppress(BundleError, OSError, MemoryError, RecursionError):
        return models_in(path) or [path]
    return [path]
