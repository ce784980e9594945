"""The page of a report that the Python interface returns."""

from __future__ import annotations

import os
import pickle
import sys
from types import ModuleType, SimpleNamespace

import pytest

import delegate_sim
from delegate_sim.errors import OptionError
from delegate_sim.graph import effort
from delegate_sim.page import viewer
from delegate_sim.results.report.report import Report
from tests.support.hostile_names import hostile_model
from tests.support.models import MIXED, chain_model


def report(ops=MIXED):
    return delegate_sim.analyze(chain_model(ops).bytes(), defaults="api")


def test_a_notebook_shows_the_strip_above_the_tables():
    written = report()._repr_html_()
    assert 'aria-label="nnapi: 2 of 4 nodes run on the delegate; the plan has 3 pieces, shown in execution order"' in written
    assert written.count("background:") == 3
    assert written.index("background:") < written.index("<table")


def test_the_strip_of_a_hostile_model_holds_nothing_of_it():
    written = delegate_sim.analyze(hostile_model().bytes(), defaults="api")._repr_html_()
    assert "<script" not in written
    assert "<img" not in written


def test_a_report_made_otherwise_has_no_page():
    made = report()
    with pytest.raises(OptionError, match="has no page"):
        Report(made.model, made.runs).show()


def test_viewers_are_plain_data():
    assert pickle.loads(pickle.dumps(report().viewer)) == report().viewer


class TestPage:
    def test_a_chain_has_a_view_for_each_delegate(self):
        written = delegate_sim.simulate(chain_model(MIXED).bytes(), [("nnapi", {}), ("xnnpack", {})], defaults="api").to_html()
        assert '"delegate":"nnapi"' in written
        assert '"delegate":"xnnpack"' in written

    def test_causes_that_are_left_out_are_given_with_the_limit(self, monkeypatch):
        made = report()
        monkeypatch.setattr(effort, "_MOST_NODES", 1)
        written = Report(made.model, made.runs * 2, viewer=made.viewer).to_html()
        assert written.count('"causes":null') == 1
        assert f'"causes_left_out":"{effort.Effort(made.model).reason}"' in written

    def test_the_page_goes_to_a_file(self, tmp_path, monkeypatch):
        monkeypatch.setattr(viewer, "_open_browser", lambda address: pytest.fail("a browser was opened"))
        report().show(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == report().to_html()

    def test_the_page_replaces_a_file_but_not_the_model(self, tmp_path):
        chain_model(MIXED).write(tmp_path / "model.tflite")
        (tmp_path / "page.html").write_text("old")
        made = delegate_sim.analyze(tmp_path / "model.tflite", "nnapi", defaults="api")
        made.show(tmp_path / "page.html")
        with pytest.raises(delegate_sim.DelegateSimError, match="is an input file"):
            made.show(tmp_path / "model.tflite")
        assert delegate_sim.load(tmp_path / "model.tflite")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == made.to_html()

    @pytest.mark.skipif(os.name != "posix", reason="the browser is a shell script")
    def test_the_browser_is_given_a_file(self, monkeypatch, tmp_path):
        """A program of the current folder with the name of the browser does not run, although PATH has an empty entry."""
        for folder in (tmp_path / "here", tmp_path / "programs"):
            folder.mkdir()
            (folder / "browser").write_text(f'#!/bin/sh\necho "$@" > {folder}/opened\n')
            (folder / "browser").chmod(0o755)
        monkeypatch.chdir(tmp_path / "here")
        monkeypatch.setenv("PATH", os.pathsep.join(["", str(tmp_path / "programs"), os.environ["PATH"]]))
        monkeypatch.setenv("BROWSER", "browser")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        report().show()
        assert (tmp_path / "programs" / "opened").read_text().startswith("file://")
        assert not (tmp_path / "here" / "opened").exists()

    def test_a_notebook_has_the_page_in_a_frame_that_can_only_run_its_script(self, monkeypatch):
        shown = []
        package, display = ModuleType("IPython"), ModuleType("IPython.display")
        package.get_ipython = lambda: SimpleNamespace(kernel=True)
        display.HTML, display.display = str, shown.append
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        report().show()
        (written,) = shown
        assert written.startswith('<iframe sandbox="allow-scripts" ')
        assert "<script" not in written
        assert "&lt;script" in written


@pytest.mark.parametrize("make", [lambda: chain_model(MIXED), hostile_model])
def test_a_notebook_cell_is_wide_enough(browser, make):
    model = make().bytes()
    page = browser.new_page(viewport={"width": 700, "height": 800})
    for result in (
        delegate_sim.analyze(model, defaults="api"),
        delegate_sim.diagnose(model, defaults="api"),
        delegate_sim.compare(model, None, "nnapi", changed={"delegate": "gpu"}, defaults="api"),
    ):
        page.set_content(f'<body style="margin:0">{result._repr_html_()}')
        assert page.evaluate("document.documentElement.scrollWidth") == 700
    page.close()
