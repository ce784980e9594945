"""Make the documentation's site in ``site/`` (``make site``): README and docs as pages with search, and a gallery of reports.

Pages are gathered in a folder for mkdocs, in which links from the README into docs, and from docs to the README, hold.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .browser import ROOT, page_of

SITE = ROOT / "site"
GALLERY = (
    ("transformer_block", ("nnapi", "gpu", "xnnpack")),
    ("mobilenet_block", ("nnapi", "gpu", "xnnpack")),
    ("many_partitions", ("nnapi",)),
    ("float16_weights_many_partitions", ("gpu", "nnapi")),
)
"""Models of this repository, and the delegates that their reports show."""
_CONFIGURATION = """\
site_name: delegate-sim
theme: mkdocs
plugins: [search]
use_directory_urls: false
docs_dir: {docs}
site_dir: {site}
exclude_docs: "!/templates/"
validation: {{links: {{not_found: info, unrecognized_links: info}}}}
"""


def gather(folder: Path) -> None:
    """Put the pages into a folder, the README as its first, with the files that they link to."""
    shutil.copytree(ROOT / "docs", folder, dirs_exist_ok=True)
    for source, target in (("README.md", "index.md"), ("CONTRIBUTING.md", "CONTRIBUTING.md")):
        text = (ROOT / source).read_text(encoding="utf-8")
        (folder / target).write_text(text.replace("](docs/", "](").replace('src="docs/', 'src="'), encoding="utf-8")
    shutil.copytree(ROOT / "templates", folder / "templates")
    for page in folder.rglob("*.md"):
        text = re.sub(r"\]\((\.\./)*README\.md", r"](\1index.md", page.read_text(encoding="utf-8"))
        # What is above the docs in the repository is beside them here.
        above = "../" * len(page.relative_to(folder).parts)
        page.write_text(text.replace(f"]({above}", f"]({above[3:]}"), encoding="utf-8")
    gallery = folder / "gallery"
    gallery.mkdir()
    lines = ["# Reports", "", "Each is one file, as `delegate-sim report` writes it.", ""]
    for name, delegates in GALLERY:
        text = page_of(ROOT / "fixtures" / "models" / f"{name}.tflite", *delegates)
        (gallery / f"{name}.html").write_text(text, encoding="utf-8")
        lines.append(f"- [{name}]({name}.html) on {', '.join(delegates)}")
    (gallery / "index.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def build(site: Path = SITE) -> int:
    """Make the site in a folder; return mkdocs' exit code."""
    with tempfile.TemporaryDirectory() as folder:
        docs, configuration = Path(folder) / "docs", Path(folder) / "mkdocs.yml"
        gather(docs)
        configuration.write_text(_CONFIGURATION.format(docs=docs, site=site), encoding="utf-8")
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "--config-file", str(configuration)]
        done = subprocess.run(command, check=False)
    return done.returncode


def main() -> int:
    """Make the site in ``site/``, and say where it starts."""
    code = build()
    if not code:
        print(SITE / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
