"""Remake the pictures in docs/pictures (``make screenshots``): the report page of a DistilBERT, and the cards of the gallery."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

from . import gallery
from .browser import ROOT, chromium, distilbert, page_of

PICTURES = ROOT / "docs" / "pictures"
DIGEST = PICTURES / "drawn-by.sha256"
"""The digest of the files that drew the pictures."""
_SHOTS = (
    ("report-light", 1280, 860, "light"),
    ("report-dark", 1280, 860, "dark"),
    ("report-narrow", 390, 844, "light"),
    ("report-medium", 820, 1100, "light"),
)
_DELEGATES = ("nnapi", "gpu")


def digest() -> str:
    """Return the digest of the files that draw the report page and the card."""
    folder = ROOT / "delegate_sim" / "page"
    paths = [*sorted((folder / "assets").iterdir()), *sorted(folder.glob("card*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest() + "\n"


def main() -> int:
    """Write the pictures; return 1 with a line where the model or the browser is missing."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model, page = Path(folder) / "distilbert.tflite", Path(folder) / "page.html"
        try:
            model.write_bytes(distilbert())
            page.write_text(page_of(model, *_DELEGATES), encoding="utf-8")
            with chromium() as browser:
                for name, width, height, scheme in _SHOTS:
                    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
                    shown = context.new_page()
                    shown.goto(page.as_uri())
                    shown.wait_for_timeout(500)
                    shown.screenshot(path=PICTURES / f"{name}.png")
                    context.close()
                    print(PICTURES / f"{name}.png")
            print(*gallery.draw(), sep="\n")
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    DIGEST.write_text(digest(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
