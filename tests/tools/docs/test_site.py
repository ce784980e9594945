"""The documentation as a site, which ``make site`` makes."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import unquote

import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from tests.support.visits import Visit
from tools.docs import web
from tools.docs.browser import ROOT
from tools.docs.gallery import MODELS
from tools.docs.screenshots import DIGEST, digest
from tools.docs.site import GALLERY, NAVIGATION, build, main, navigation
from tools.docs.web import served

CODES = ("nnapi-operator-version", "malformed-operands", "not-loaded")


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


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_pages_fit_load_nothing_from_elsewhere_and_keep_nobody_out(site, system_chromium, width, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the package axe-playwright-python is not installed"
    )
    with served(site) as (address, _):
        visit = Visit(system_chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme), address)
        for path in ("index.html", "rules/mldrift/CONV_2D.html", "gallery/index.html", "accuracy.html", "why.html"):
            visit.page.goto(address + path)
            assert visit.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
            found = axe.Axe().run(visit.page)
            assert not found.response["violations"], found.generate_report()
        assert (visit.outside, visit.wrong) == ([], [])
        visit.context.close()


@pytest.mark.slow
def test_an_exact_code_or_operator_is_the_first_hit_and_names_its_page(site, system_chromium):
    with served(site) as (address, _):
        visit = Visit(system_chromium.new_context(), address)
        visit.page.goto(f"{address}rules/gpu.html")
        visit.page.keyboard.press("/")
        for query, location, page in (
            *((code, f"codes.html#{code}", "Codes") for code in CODES),
            ("conv_2d on nnapi", "rules/nnapi/CONV_2D.html", ""),
        ):
            visit.page.fill("#query", query)
            first = visit.page.locator("#hits li").first
            first.wait_for()
            assert (first.locator("a").evaluate("link => link.href"), first.locator("small").inner_text()) == (
                address + location,
                page,
            )
        assert visit.wrong == []
        visit.context.close()


def test_no_file_of_the_site_names_a_file_of_another_host(site):
    host = "(?:https?:)?//"
    loads = re.compile(
        rf"""<(?:script|img|iframe|source|link)\b[^>]*\s(?:src|href)="?{host}[^">]*|url\(["']?{host}[^)]*|@import\b"""
    )
    found = {}
    for path in site.rglob("*"):
        if path.suffix in (".html", ".css", ".js", ".svg"):
            hits = loads.findall(path.read_text(encoding="utf-8"))
            found.update({path.relative_to(site).as_posix(): hits} if hits else {})
    assert found == {}


def test_the_first_page_leads_with_the_application_and_has_card_commands_and_agreement(site):
    text = (site / "index.html").read_text(encoding="utf-8").partition("<main")[2]
    commands = ["$ delegate-sim analyze", "$ delegate-sim diagnose", "$ delegate-sim fix"]
    parts = ['href="try/index.html"', '<div class="cards">', *commands, "<td><code>nnapi</code></td>"]
    assert sorted(parts, key=text.index) == parts


def test_operators_of_long_pages_of_rules_have_pages_with_their_sources(site):
    text = (site / "rules" / "mldrift.html").read_text(encoding="utf-8")
    listed = set(re.findall(r'"(mldrift/[\w.-]+\.html)"', text))
    assert {f"mldrift/{page.name}" for page in (site / "rules" / "mldrift").iterdir()} == listed
    operator = (site / "rules" / "mldrift" / "CONV_2D.html").read_text(encoding="utf-8")
    assert 'href="https://github.com/google-ai-edge/LiteRT/blob/' in operator
    assert "][" not in operator


def test_links_have_words():
    names = ("README", "AGENTS", "SECURITY", "CONTRIBUTING", "CHANGELOG")
    pages = [*(ROOT / f"{name}.md" for name in names), *(ROOT / "docs").rglob("*.md")]
    named = {page.name: re.findall(r"\[[\w/.-]+\.md\]\(", page.read_text(encoding="utf-8")) for page in pages}
    assert {name: links for name, links in named.items() if links} == {}


def test_pictures_are_of_the_page_and_the_card_as_they_are():
    assert DIGEST.read_text(encoding="utf-8") == digest(), "run `make screenshots`"


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
    assert len(MODELS) == 10
    assert [model.name for model in MODELS if not (site / "pictures" / "gallery" / f"{model.name}.svg").exists()] == []
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


def test_a_site_to_publish_is_not_built_without_numpy(tmp_path, monkeypatch, capsys):
    lock = {"packages": {"numpy": {"file_name": "numpy.whl", "sha256": "0" * 64}}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    monkeypatch.setattr(web, "installed_pyodide", lambda: tmp_path)
    monkeypatch.setattr(web, "_run", lambda *_: None)
    assert main(["--complete"]) == 1
    assert "has no numpy" in capsys.readouterr().err
    assert web.fetched_numpy() is None
