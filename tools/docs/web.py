"""Build the browser application in ``web/dist`` (``make web``): a folder that any static web server can serve.

It has Pyodide from npm, the wheel of this package, the wheels that it needs, and the page. All addresses in it are relative.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from delegate_sim.page.document import code_digests, viewer
from delegate_sim.version import __version__
from tools.packaging.environments import build_wheel
from tools.packaging.publication import UNKNOWN_OWNER, owner, repository
from web.form import form

from .browser import ROOT
from .gallery import CARD_STYLE, EXAMPLE, example_card

WEB = ROOT / "web"
DIST = WEB / "dist"
LOCK = ROOT / "requirements-demo.lock"
PACKAGES = ("click", "flatbuffers", "rich", "tabulate")
"""The packages that commands import in the browser. The rest of the lock is numpy, or is not imported there."""
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PACKAGES_FILE = "packages.zip"
SNAPSHOT_FILE = "snapshot.bin"
_WORKER = "service-worker.js"


class UnavailableError(RuntimeError):
    """A part of the application that cannot be had here: npm, Node.js or a package."""


def installed_pyodide() -> Path:
    """Install the packages of ``web/package-lock.json`` where they are missing or older; return the folder of Pyodide.

    Raises UnavailableError where npm is missing or cannot install them.
    """
    installed = WEB / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (WEB / "package-lock.json").stat().st_mtime:
        try:
            _run("npm", "ci", "--no-audit", "--no-fund")
        except RuntimeError as fault:
            raise UnavailableError(str(fault)) from None
        installed.touch()
    return WEB / "node_modules" / "pyodide"


def check_types() -> None:
    """Check the types of the scripts. Raises RuntimeError if they do not hold."""
    installed_pyodide()
    _run("npm", "run", "--silent", "check")


def _run(program: str, *arguments: str) -> None:
    """Run a program in the folder of the application. Raises RuntimeError where it is missing or fails."""
    path = shutil.which(program)
    if path is None:
        raise UnavailableError(f"{program} is not here (the browser application needs npm and Node.js 20 or newer)")
    done = subprocess.run([path, *arguments], cwd=WEB, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join([program, *arguments])} failed: {(done.stdout + done.stderr).strip()[-1000:]}")


def build(folder: Path = DIST, numpy: Path | None = None, *, is_in_site: bool = False) -> None:
    """Write the application into a folder. ``numpy`` is a wheel from ``fetched_numpy``, for the models that need numpy.

    In the site, links lead to the pages beside the application, and otherwise to the repository, if its owner is known.

    Raises RuntimeError where a part of it cannot be had.
    """
    pyodide = installed_pyodide()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(WEB / "app", folder, ignore=shutil.ignore_patterns("types.js"))
    shutil.copy(EXAMPLE, folder / "example.tflite")
    shutil.copy(CARD_STYLE, folder)
    (folder / "pyodide").mkdir()
    for name in PYODIDE:
        shutil.copy(pyodide / name, folder / "pyodide")
    if numpy is not None:
        shutil.copy(numpy, folder / "pyodide")
    (folder / "view.html").write_text(viewer(), encoding="utf-8")
    (folder / "form.json").write_text(form(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        packages = Path(scratch) / "packages"
        packages.mkdir()
        shutil.copy(WEB / "bridge.py", packages)
        shutil.copy(build_wheel(Path(scratch)), packages)
        _download_wheels(packages)
        _run("node", "compile.mjs", str(packages), str(folder / PACKAGES_FILE))
    _run("node", "snapshot.mjs", str(folder), str(folder / SNAPSHOT_FILE))
    policy = _policy()
    _fill(folder / "index.html", policy=policy, version=__version__, card=example_card())
    _write_lists(folder, policy, has_numpy=numpy is not None, is_in_site=is_in_site)


def _download_wheels(folder: Path) -> None:
    """Download the wheels of ``PACKAGES``, with the versions and digests of the lock."""
    entries = re.finditer(r"^(\S+?)==.*\\\n(?:    --hash=.*\n)+", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    locked = {entry[1]: entry[0] for entry in entries}
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "requirements.txt"
        wanted.write_text("".join(locked[name] for name in PACKAGES), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--require-hashes", "--requirement", str(wanted), "--dest", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError(f"the wheels cannot be downloaded: {done.stderr.strip()[-500:]}")


def fetched_numpy(*, required: bool = False) -> Path | None:
    """Return the wheel of numpy for this Pyodide, from Pyodide's distribution. Where it cannot be reached, warn and return None.

    Raises UnavailableError instead of the warning if numpy is required.
    """
    pyodide = installed_pyodide()
    with suppress(RuntimeError):
        _run("node", "numpy.mjs")
    entry = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]["numpy"]
    wheel: Path = pyodide / entry["file_name"]
    if wheel.exists() and hashlib.sha256(wheel.read_bytes()).hexdigest() == entry["sha256"]:
        return wheel
    fault = "Pyodide's distribution cannot be reached, so the application has no numpy, which some models need"
    if required:
        raise UnavailableError(fault)
    print(f"warning: {fault}", file=sys.stderr)
    return None


def _policy() -> str:
    """Return the policy of the page and of its worker: they may load files of the page, and nothing else."""
    script, style = code_digests()
    return "; ".join(
        [
            "default-src 'none'",
            # The digests let the report page run its own script in its frame.
            f"script-src 'self' 'wasm-unsafe-eval' {script}",
            f"style-src 'self' {style}",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "img-src 'self' data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _fill(path: Path, **values: str) -> None:
    text = path.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace("{{" + name + "}}", value)
    path.write_text(text, encoding="utf-8")


def _write_lists(folder: Path, policy: str, *, has_numpy: bool, is_in_site: bool) -> None:
    """Write the lists of files that the page and its service worker load."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _WORKER)
    start = [folder / SNAPSHOT_FILE, *(folder / "pyodide" / name for name in PYODIDE)]
    content: dict[str, Any] = {
        "start": sum(path.stat().st_size for path in start),
        "packages": PACKAGES_FILE,
        "snapshot": SNAPSHOT_FILE,
        "numpy": has_numpy,
        "docs": _documentation("index", is_in_site=is_in_site),
        "codes": _documentation("codes", is_in_site=is_in_site),
    }
    listed = folder / "files.json"
    listed.write_text(json.dumps(content), encoding="utf-8")
    entries = [{"path": path.relative_to(folder).as_posix(), "integrity": _integrity(path)} for path in [*paths, listed]]
    version = hashlib.sha256(json.dumps([entries, policy]).encode()).hexdigest()[:16]
    manifest = json.dumps({"version": version, "policy": policy, "files": entries})
    _fill(folder / _WORKER, manifest=json.dumps(manifest)[1:-1])


def _documentation(page: str, *, is_in_site: bool) -> str:
    """Return the address of a page of the documentation, or "" if there is none."""
    if is_in_site:
        return f"../{page}.html"
    if owner() == UNKNOWN_OWNER:
        return ""
    return f"https://github.com/{repository()}/blob/main/{'README' if page == 'index' else f'docs/{page}'}.md"


def _integrity(path: Path) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode('ascii')}"


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a folder, as any static host would; return its address, and the list to which the path of each request is added."""
    requests: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            requests.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", requests
    finally:
        server.shutdown()
        server.server_close()


def main() -> int:
    """Build the application, and say where it is. Exit code 1 where that is not possible."""
    try:
        check_types()
        build(numpy=fetched_numpy())
    except RuntimeError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    print(DIST)
    return 0


if __name__ == "__main__":
    sys.exit(main())
