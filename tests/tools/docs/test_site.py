"""The documentation as a site, which ``make site`` makes."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import unquote

import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from tools.docs.browser import ROOT
from tools.docs.site import GALLERY, NAVIGATION, build, navigation


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the package mkdocs (the extra [docs]) is not installed")
    folder, application = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("application")
    (application / "index.html").write_text('<a href="../index.html">Documentation</a>', encoding="utf-8")
    assert build(folder, application) == 0
    return folder


def test_search_knows_the_interface_and_the_rules_of_every_delegate(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"] for entry in index["docs"]}
    assert {f"api.html#{name.lower()}" for name in delegate_sim.__all__ if callable(getattr(delegate_sim, name))} - found == {
        f"api.html#{name.lower()}" for name in delegate_sim.__all__ if name.endswith("Error")
    }
    assert {f"rules/{name}.html" for name in DELEGATE_NAMES} <= found
    assert 'id="mkdocs_search_modal"' in (site / "index.html").read_text(encoding="utf-8")


def test_the_pages_of_the_first_week_are_few_and_short():
    names = NAVIGATION["First week"].split()
    pages = [ROOT / "README.md" if name == "index" else ROOT / "docs" / f"{name}.md" for name in names]
    assert len(pages) <= 10
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 12_000


def test_language_models_get_a_list_of_all_pages(site):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert {f"({page.relative_to(site).as_posix()})" for page in (site / "rules").glob("*.html")} <= set(
        re.findall(r"\(\S+\)", text)
    )
    assert "- [Why delegate-sim](why.html): This page tells" in text


def test_the_gallery_has_the_reports_that_it_lists(site):
    listed = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    assert GALLERY
    for name, delegates, _ in GALLERY:
        assert f'href="{name}.html"' in listed
        page = (site / "gallery" / f"{name}.html").read_text(encoding="utf-8")
        assert all(f'"delegate":"{delegate}"' in page for delegate in delegates)


def test_every_page_leads_to_the_browser_application(site):
    assert 'href="try/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert 'href="../try/index.html"' in (site / "rules" / "nnapi.html").read_text(encoding="utf-8")
    assert (site / "try" / "index.html").read_text(encoding="utf-8").startswith("<a href")


def test_every_page_is_in_the_navigation():
    pages = ROOT / "docs"
    listed = {path for group in navigation(pages) for entries in group.values() for entry in entries for path in entry.values()}
    missing = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")} - listed
    assert missing == set(), "add them to NAVIGATION in tools/docs/site.py"
    made = {"index", "CONTRIBUTING", "SECURITY", "CHANGELOG", "gallery/index", "benchmarks/*"}
    names = {name for names in NAVIGATION.values() for name in names.split()} - made
    assert {name for name in names if not list(pages.glob(f"{name}.md"))} == set()


def test_links_lead_to_pages_of_the_site(site):
    missing = []
    for page in site.rglob("*.html"):
        if page.name == "404.html" or (page.parent.name == "gallery" and page.name != "index.html"):
            continue
        for target in re.findall(r'(?:href|src)="([^"]*)"', page.read_text(encoding="utf-8")):
            path = unquote(html.unescape(target)).partition("#")[0]
            if path and not re.match(r"[a-z]+:|//", path) and not (page.parent / path).exists():
                missing.append((page.relative_to(site).as_posix(), target))
    assert missing == []
