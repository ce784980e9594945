"""The worked examples of docs/time.md are what the commands print."""

from __future__ import annotations

import pytest

from tools.corpus_tables.time_stories import PAGE, SHARED, STORIES, told


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the corpora (../shared) are not here")
@pytest.mark.parametrize("story", STORIES, ids=[story.section for story in STORIES])
def test_the_page_has_the_output(story):
    assert f"<!-- {story.section} -->\n{told(story)}\n<!-- /" in PAGE.read_text(encoding="utf-8")
