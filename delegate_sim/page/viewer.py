"""Show the page in a notebook or in the browser."""

from __future__ import annotations

import html
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..diagnosis.diagnose import diagnose
from ..foundation.files import write_whole
from ..foundation.outputs import OutputFile, check_output
from ..foundation.processes import python_module, start
from ..graph.effort import DIAGNOSIS, DRAWING, Effort
from .content import PageView
from .document import page

if TYPE_CHECKING:
    from ..results.report.report import Report
    from ..runtime.interpreter import Run
    from .content import PageView

_HEIGHT = 900
"""Height of a page in a notebook, in pixels."""


@dataclass(frozen=True, slots=True)
class PageViewer:
    """Viewer that shows a report as a page, with the causes of the refusals."""

    def html(self, report: Report) -> str:
        """Return the page as HTML. The page for a chain shows no causes, because a diagnosis considers only one delegate."""
        effort = Effort(report.model)
        effort.require(DRAWING, max([run.target.effort for run in report.runs], default=1))
        return page([self._view(report, run, effort) for run in report.runs])

    def show(self, report: Report, path: str | os.PathLike[str] | None) -> None:
        """Write the page to a path, or show it in the browser. In a notebook, show it below the cell in any case."""
        written = self.html(report)
        if path is not None:
            check_output(OutputFile(os.fspath(path), is_forced=True), [report.model.path] if report.model.path else ())
            write_whole(os.fspath(path), written, replaces=True)
        display = _notebook_display()
        if display is not None:
            display(written)
        elif path is None:
            import tempfile

            handle, name = tempfile.mkstemp(".html")
            os.close(handle)
            write_whole(name, written)
            _open_browser(Path(name).as_uri())

    def _view(self, report: Report, run: Run, effort: Effort) -> PageView:

        if report.is_chain:
            return PageView(report.model, run)
        left_out = effort.reason if effort.is_over else effort.refusal(DIAGNOSIS, run.target.effort)
        if left_out:
            return PageView(report.model, run, causes_left_out=left_out)
        return PageView(report.model, run, diagnose(report.model, run.target, effort))


def _open_browser(address: str) -> None:
    """Open a page in the browser. A separate process searches the browser, because its ``PATH`` has only absolute folders."""
    start(python_module("webbrowser", address), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()


def _notebook_display() -> Any:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    notebook: Any = import_module("IPython.display")
    style = f"width:100%;height:{_HEIGHT}px;border:0"
    frame = f'<iframe sandbox="allow-scripts" title="delegate-sim" style="{style}" srcdoc="'
    return lambda written: notebook.display(notebook.HTML(f'{frame}{html.escape(written)}"></iframe>'))
