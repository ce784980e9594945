"""Make the documentation's site in ``site/`` (``make site``): README and docs as pages with search, and a gallery of reports.

Pages are gathered in a folder for mkdocs, in which links from the README into docs, and from docs to the README, hold.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.packaging.publication import with_repository

from . import web
from .browser import ROOT, page_of

SITE = ROOT / "site"
GALLERY = (
    (
        "transformer_block",
        ("nnapi", "gpu", "xnnpack"),
        "a dynamic range quantized transformer block, which operator versions cut",
    ),
    ("mobilenet_block", ("nnapi", "gpu", "xnnpack"), "a small convolutional network with few nodes on the CPU"),
    ("many_partitions", ("nnapi",), "a chain of operators that are supported and unsupported in turn"),
    (
        "float16_weights_many_partitions",
        ("gpu", "nnapi"),
        "float16 weights: NNAPI fails and restores the plan, the GPU takes all nodes",
    ),
)
"""Models of this repository, the delegates that their reports show, and what to see there."""
NAVIGATION = {
    "First week": "index why installing first-model which-delegate fallback fix sweep ci glossary",
    "Tasks": "accuracy adoption browser time device-logs reduce scan gallery/index",
    "Targets": "targets nnapi npu mldrift numbers vx embedded micro llm",
    "Reference": "commands formats stability codes suggestions passes python api rules/*",
    "Contributing": "CONTRIBUTING writing how-it-works architecture upstream releasing learned mutation SECURITY CHANGELOG",
    "Appendix": "appendix/* benchmarks/*",
}
"""The groups of pages, each with its pages in their order."""
APPLICATION = "try"
"""The folder of the browser application in the site."""
_STYLE = """\
.container { max-width: 1320px; }
.dropdown-menu { max-width: 100vw; }
.dropdown-item { white-space: normal; }
div[role=main] table { display: block; overflow-x: auto; width: max-content; max-width: 100%; }
div[role=main] td { min-width: 6rem; }
div[role=main] td code, div[role=main] p code, div[role=main] li code { overflow-wrap: anywhere; }
div[role=main] td:first-child code { white-space: nowrap; }
div[role=main] :is(h1, h2, h3) { overflow-wrap: anywhere; }
div[role=main] img { max-width: 100%; height: auto; }
"""
"""Wide tables scroll on their own, so that a page fits a phone."""


def configuration(docs: Path, site: Path) -> dict[str, Any]:
    """Return mkdocs' configuration for gathered pages."""
    return {
        "site_name": "delegate-sim",
        "theme": {"name": "mkdocs", "color_mode": "auto", "user_color_mode_toggle": True, "navigation_depth": 2},
        "plugins": ["search"],
        "extra_css": ["style.css"],
        "use_directory_urls": False,
        "docs_dir": str(docs),
        "site_dir": str(site),
        "exclude_docs": "!/templates/",
        "nav": navigation(docs),
        "validation": {"links": {"not_found": "info", "unrecognized_links": "info"}},
    }


def navigation(docs: Path) -> list[dict[str, Any]]:
    """Return the groups of pages that exist, each with its pages by title."""
    groups = []
    for group, names in NAVIGATION.items():
        paths = [path for name in names.split() for path in sorted(docs.glob(f"{name}.md"))]
        pages = [{title(path): path.relative_to(docs).as_posix()} for path in paths]
        groups.append({group: pages})
    if (docs / APPLICATION).exists():
        return [{"Try it": f"{APPLICATION}/index.html"}, *groups]
    return groups


def title(page: Path) -> str:
    """Return the heading of a page."""
    heading = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return re.sub(r"What the delegate (\S+) accepts", r"Rules: \1", heading).replace("`", "")


def gather(folder: Path, application: Path | None) -> None:
    """Put the pages into a folder, the README as its first, with the files that they link to, and the browser application."""
    if application is not None:
        shutil.copytree(application, folder / APPLICATION)
    shutil.copytree(ROOT / "docs", folder, dirs_exist_ok=True)
    for name in ("README", "CONTRIBUTING", "AGENTS", "SECURITY", "CHANGELOG"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        target = folder / ("index.md" if name == "README" else f"{name}.md")
        target.write_text(text.replace("](docs/", "](").replace('src="docs/', 'src="'), encoding="utf-8")
    for name in ("LICENSE", "NOTICE", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    for name in ("skills", "templates"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "benchmarks").mkdir()
    for page in (ROOT / "benchmarks").glob("*.md"):
        shutil.copy(page, folder / "benchmarks")
    for page in (folder / "rules").glob("*.md"):
        heading, _, rest = page.read_text(encoding="utf-8").partition("\n")
        page.write_text(f"{heading}\n{re.sub(r'^#', '##', rest, flags=re.MULTILINE)}", encoding="utf-8")
    for page in folder.rglob("*.md"):
        text = re.sub(r"\]\((\.\./)*README\.md", r"](\1index.md", page.read_text(encoding="utf-8"))
        # What is above the docs in the repository is beside them here.
        above = "../" * len(page.relative_to(folder).parts)
        page.write_text(with_repository(text.replace(f"]({above}", f"]({above[3:]}")), encoding="utf-8")
    (folder / "llms.txt").write_text(overview(folder), encoding="utf-8")
    (folder / "style.css").write_text(_STYLE, encoding="utf-8")
    gallery = folder / "gallery"
    gallery.mkdir()
    lines = ["# Gallery of reports", "", "`delegate-sim report` writes each of them as one file. Choose one to open it.", ""]
    for name, delegates, description in GALLERY:
        text = page_of(ROOT / "fixtures" / "models" / f"{name}.tflite", *delegates)
        (gallery / f"{name}.html").write_text(text, encoding="utf-8")
        lines.append(f"- [{name}]({name}.html) on {', '.join(delegates)}: {description}")
    (gallery / "index.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def overview(docs: Path) -> str:
    """Return the pages as a list for language models (llms.txt): each with its title and first sentence."""
    lines = ["# delegate-sim", "", "> Predicts, without a device, what a TFLite or LiteRT delegate does with a model.", ""]
    lines.append("- [How to use the tool](skills/delegate-sim/SKILL.md): questions, commands, and how to read the answers")
    for group in navigation(docs):
        for name, pages in group.items():
            if isinstance(pages, str):  # the browser application
                lines.append(f"- [{name}]({pages}): the tool in a browser")
                continue
            lines += ["", f"## {name}", ""]
            for heading, path in [entry for page in pages for entry in page.items()]:
                text = (docs / path).read_text(encoding="utf-8").partition("\n\n")[2].partition("\n\n")[0]
                first = " ".join(text.split()).partition(". ")[0]
                lines.append(f"- [{heading}]({path.removesuffix('.md')}.html): {first.removesuffix('.')}")
    return "\n".join([*lines, ""])


def build(site: Path = SITE, application: Path | None = None) -> int:
    """Make the site in a folder, with the browser application if there is one; return mkdocs' exit code."""
    with tempfile.TemporaryDirectory() as folder:
        docs, settings = Path(folder) / "docs", Path(folder) / "mkdocs.yml"
        gather(docs, application)
        settings.write_text(json.dumps(configuration(docs, site)), encoding="utf-8")  # JSON is YAML
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "--config-file", str(settings)]
        done = subprocess.run(command, check=False)
    return done.returncode


def application() -> Path | None:
    """Build the browser application, and return its folder. Without npm, say so and return None."""
    try:
        web.build(numpy=web.fetched_numpy())
    except web.UnavailableError as fault:
        print(f"note: without the browser application: {fault}", file=sys.stderr)
        return None
    return web.DIST


def main() -> int:
    """Make the site in ``site/``, and say where it starts."""
    code = build(SITE, application())
    if not code:
        print(SITE / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
