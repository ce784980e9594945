"""Colors on a terminal."""

from __future__ import annotations

import io

from delegate_sim_cli.console import terminal
from delegate_sim_cli.console.terminal import Line


def test_parts_of_a_line_are_colored_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr("sys.stdout", shown)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal.write_lines([Line("  ab", "", ((2, 3, "green"), (3, 4, "red")))])
    assert "\x1b[32ma" in shown.getvalue()
    assert "\x1b[31mb" in shown.getvalue()
