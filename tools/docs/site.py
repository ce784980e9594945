"""Make the documentation's site in ``site/`` (``make site``): README and docs as pages with search, and a gallery.

Pages are gathered in a folder for mkdocs, in which links from the README into docs, and from docs to the README, hold. The theme
loads nothing from other hosts.
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

from delegate_sim.results.accuracy import KINDS, AgreedVerdicts, accuracy
from tools.packaging.publication import with_repository

from . import web
from .browser import ROOT, page_of
from .gallery import cards, example_card
from .sections import title

SITE = ROOT / "site"
THEME = Path(__file__).parent / "theme"
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
    "Reference": "commands formats stability codes suggestions passes python api",
    "Rules": "rules/*",
    "Contributing": "CONTRIBUTING writing how-it-works architecture upstream releasing learned mutation SECURITY CHANGELOG",
    "Appendix": "appendix/* benchmarks/*",
}
"""The groups of pages, each with its pages in their order."""
START = {"installing": "Install it", "first-model": "Your first model", "gallery/index": "Gallery"}
"""Links of the first page, beside the application."""
APPLICATION = "try"
"""The folder of the browser application in the site."""
LONG = 10_000
"""Pages of rules with more words have a page for each operator."""


def configuration(docs: Path, site: Path) -> dict[str, Any]:
    """Return mkdocs' configuration for gathered pages."""
    return {
        "site_name": "delegate-sim",
        "theme": {"name": None, "custom_dir": str(THEME), "static_templates": ["404.html"], "search_index_only": True},
        "plugins": ["search"],
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
    for page in [*(folder / "rules").glob("*.md")]:
        heading, _, rest = page.read_text(encoding="utf-8").partition("\n")
        page.write_text(f"{heading}\n{re.sub(r'^#', '##', rest, flags=re.MULTILINE)}", encoding="utf-8")
        split(page)
    start = folder / "index.md"
    start.write_text(landing(start.read_text(encoding="utf-8"), has_application=application is not None), encoding="utf-8")
    for page in folder.rglob("*.md"):
        text = re.sub(r"\]\((\.\./)*README\.md", r"](\1index.md", page.read_text(encoding="utf-8"))
        # What is above the docs in the repository is beside them here.
        above = "../" * len(page.relative_to(folder).parts)
        page.write_text(with_repository(text.replace(f"]({above}", f"]({above[3:]}")), encoding="utf-8")
    (folder / "llms.txt").write_text(overview(folder), encoding="utf-8")
    shutil.copy(ROOT / "web" / "app" / "icon.svg", folder)
    gallery = folder / "gallery"
    gallery.mkdir()
    lines = [cards(), "## Reports", "", "`delegate-sim report` writes each of them as one file. Choose one to open it.", ""]
    for name, delegates, description in GALLERY:
        text = page_of(ROOT / "fixtures" / "models" / f"{name}.tflite", *delegates)
        (gallery / f"{name}.html").write_text(text, encoding="utf-8")
        lines.append(f"- [{name}]({name}.html) on {', '.join(delegates)}: {description}")
    (gallery / "index.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def split(page: Path) -> None:
    """Give each operator of a long page of rules a page of its own, to which the page then links."""
    text = page.read_text(encoding="utf-8")
    if len(text.split()) <= LONG:
        return
    rules, _, codes = text.partition("\n## Codes\n")
    sources = dict(re.findall(r"^\[(\S+)\]: (\S+)$", text, re.MULTILINE))
    head, *operators = re.split(r"^### ", re.sub(r"^\[\S+\]: \S+\n?", "", rules, flags=re.MULTILINE), flags=re.MULTILINE)
    folder = page.with_suffix("")
    folder.mkdir()
    links = []
    for operator in operators:
        name, _, rest = operator.partition("\n")
        links.append(f'<li><a href="{folder.name}/{name}.html">{name}</a></li>')
        used = [f"[{source}]: {address}" for source, address in sources.items() if f"[{source}]" in rest]
        lines = [f"# {name} on {title(page)}", "", f"[All operators of {title(page)}](../{page.name})", rest, *used, ""]
        (folder / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    named = "" if "\n## Operators\n" in head else "## Operators\n\n"
    parts = [head.rstrip(), "", f'{named}<ul class="operators">', *links, "</ul>", "", *(["## Codes", codes] if codes else [])]
    page.write_text("\n".join(parts), encoding="utf-8")


def landing(readme: str, *, has_application: bool) -> str:
    """Return the first page: the README with buttons, the card as HTML, and the table of agreement."""
    heading, text, _, rest = readme.split("\n\n", 3)
    sentence, _, about = " ".join(text.split()).partition(". ")
    trial = f'<a class="button" href="{APPLICATION}/index.html">Try it</a> ' if has_application else ""
    links = " ".join(f'<a href="{path}.html">{text}</a>' for path, text in START.items())
    commands, _, last = rest.partition("## Set up a checkout")
    buttons = f'<p class="buttons">{trial}{links}</p>'
    parts = [heading, f"{sentence}.", buttons, example_card(), about, commands.strip(), *_agreement()]
    return "\n\n".join([*parts, f"## Set up a checkout{last}"])


def _agreement() -> list[str]:
    """Return a section with the table of agreement: targets, and how many compared results of all records agree."""
    results: dict[str, list[AgreedVerdicts]] = {}
    for entry in accuracy().targets:
        # A run with an error has no result to compare.
        results.setdefault(entry.target, []).extend([part for part in entry.agreement if part.kind != KINDS["crashes"]])
    lines = ["| target | results that agree |", "|---|---|"]
    for target, parts in results.items():
        agree, compared = (sum(numbers) for numbers in zip(*[(part.agree, part.compared) for part in parts], strict=True))
        lines.append(f"| `{target}` | {agree:,} of {compared:,} |")
    return [
        "## How often is it right?",
        "The answers are compared with [recorded verdicts of real delegates](accuracy.md), such as which nodes a delegate takes:",
        "\n".join(lines),
    ]


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


def application(*, complete: bool = False) -> Path | None:
    """Build the browser application, and return its folder. Without npm, say so and return None.

    Raises web.UnavailableError instead if the application is to be complete, with numpy.
    """
    try:
        web.build(numpy=web.fetched_numpy(required=complete), is_in_site=True)
    except web.UnavailableError as fault:
        if complete:
            raise
        print(f"note: without the browser application: {fault}", file=sys.stderr)
        return None
    return web.DIST


def main(arguments: list[str]) -> int:
    """Make the site, and say where it starts. With ``--complete``, fail where the application or its numpy is missing."""
    try:
        code = build(SITE, application(complete="--complete" in arguments))
    except web.UnavailableError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    if not code:
        print(SITE / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
