"""Write the number of a new version, and today's date, where the repository names them (``make version NEW=0.3.0``)."""

from __future__ import annotations

import re
import sys
from datetime import date

from delegate_sim.version import __version__

from .environments import ROOT

_GALLERY = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs" / "pictures" / "gallery").glob("*.svg"))]
_PAGES = ("docs/ci.md", "docs/installing.md", "docs/reduce.md", "docs/pictures/card.svg", *_GALLERY)
NAMED = ("delegate_sim/version.py", "CITATION.cff", *_PAGES)
"""The files that name the version, besides the changelog."""


def changes(new: str, today: date) -> dict[str, str]:
    """Return the new text of each file. Raises ValueError if ``new`` is no version, or nothing is unreleased."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        raise ValueError(f"'{new}' is no version such as 0.3.0: give NEW")
    old = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?![\d.]*\d)")
    texts = {name: old.sub(new, (ROOT / name).read_text("utf-8")) for name in NAMED}
    texts["CITATION.cff"] = re.sub(r'(?<=date-released: ")[\d-]+', today.isoformat(), texts["CITATION.cff"])
    text, count = re.subn(
        r"^## Unreleased$", f"## {new} - {today}", (ROOT / "CHANGELOG.md").read_text("utf-8"), count=1, flags=re.MULTILINE
    )
    if not count:
        raise ValueError("CHANGELOG.md has no section 'Unreleased'")
    return {**texts, "CHANGELOG.md": text}


def main() -> int:
    """Write the files, and print their names."""
    try:
        texts = changes(sys.argv[1] if len(sys.argv) > 1 else "", date.today())
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    for name, text in texts.items():
        (ROOT / name).write_text(text, encoding="utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
