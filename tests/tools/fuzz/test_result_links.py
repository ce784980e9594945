"""Mutants of links to results."""

from __future__ import annotations

import pytest

pytest.importorskip("resource", reason="the changes of inputs use forked processes")
pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")

from delegate_sim.page.document import viewer
from tools.fuzz.result_links import Seed, Viewer, fragment_of, mutant, seeds

NO_VIEWER = """<body><script>
const text = decodeURIComponent(location.hash.slice(1));
if (text === "script") window.hit = 1;
if (text === "request") new Image().src = "https://example.invalid/x";
if (text !== "nothing") document.body.className = "ready";
if (text === "error") setTimeout(() => { throw new Error("e"); });
</script>"""


def opened(browser, folder, text):
    path = folder / "view.html"
    path.write_text(text, encoding="utf-8")
    return Viewer(browser, path.as_uri())


@pytest.mark.slow
def test_seeds_are_shown_and_mutants_repeat(system_chromium, tmp_path):
    given = seeds()
    shown = opened(system_chromium, tmp_path, viewer())
    assert [shown.wrong(fragment_of(seed).decode()) for seed in given] == [("", "")] * len(given)
    assert all("<svg" in seed.cards for seed in given)
    assert mutant("1:2", given) == mutant("1:2", given) != mutant("1:3", given)
    assert shown.wrong(fragment_of(Seed("{}", "<script>window.hit = 1</script>")).decode()) == ("", "")


@pytest.mark.parametrize(("fragment", "what"), [("script", "escape"), ("request", "escape"), ("error", "error"), ("", "")])
def test_what_counts_as_a_finding(system_chromium, tmp_path, fragment, what):
    assert opened(system_chromium, tmp_path, NO_VIEWER).wrong(fragment)[0] == what
