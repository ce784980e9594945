"""A folder with a file for every module that Python or an installed package has. A file that is imported leaves a mark."""

import sys
from importlib import metadata
from pathlib import Path

_PACKAGES = ("encodings", "xml", "concurrent", "multiprocessing", "numpy")
_SYSTEM = "nt" if sys.platform == "win32" else "posix"
_BODY = f"""\
import {_SYSTEM}
{_SYSTEM}.close({_SYSTEM}.open({{mark!r}}, {_SYSTEM}.O_CREAT | {_SYSTEM}.O_WRONLY))
raise ImportError("a file of the current folder was imported")
"""
_MARK = ".imported"


def write_shadows(folder, names=None):
    """Write the files, by default for all modules. They need only a builtin module, so they also work while Python starts."""
    folder.mkdir(exist_ok=True)
    for name in _all_names() if names is None else names:
        body = _BODY.format(mark=str(folder / f"{name}{_MARK}"))
        (folder / f"{name}.py").write_text(body)
        if name in _PACKAGES:
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(body)


def _all_names():
    installed = {name for names in map(_top_level, metadata.distributions()) for name in names}
    return {"sitecustomize", "usercustomize", "socket", *sys.stdlib_module_names, *installed} - {"delegate_sim"}


def _top_level(distribution):
    parts = [Path(str(file)).parts[0] for file in distribution.files or () if str(file).endswith(".py")]
    return {part.removesuffix(".py") for part in parts if part.removesuffix(".py").isidentifier()}


def imported_shadows(folder):
    """Return the names of the files that were imported."""
    return sorted(path.name.removesuffix(_MARK) for path in folder.iterdir() if path.name.endswith(_MARK))
