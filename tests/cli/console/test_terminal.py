"""Output on a terminal."""

from __future__ import annotations

import io

import pytest

from delegate_sim_cli.console import terminal
from delegate_sim_cli.console.terminal import Line


def colored_terminal(monkeypatch):
    """Replace standard output by a terminal with colors. A fixture cannot, because pytest sets standard output after it."""

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    stdout = Terminal()
    monkeypatch.setattr("sys.stdout", stdout)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return stdout


def test_parts_of_a_line_are_colored(monkeypatch):
    shown = colored_terminal(monkeypatch)
    terminal.write_lines([Line("  ab", "", ((2, 3, "green"), (3, 4, "red")))])
    assert "\x1b[32ma" in shown.getvalue()
    assert "\x1b[31mb" in shown.getvalue()


@pytest.mark.parametrize("has_color", [True, False])
def test_a_line_is_shown_before_the_next_line_is_computed(monkeypatch, has_color):
    shown = colored_terminal(monkeypatch)
    if not has_color:
        monkeypatch.setenv("NO_COLOR", "1")

    def lines():
        yield Line("first")
        assert shown.getvalue() == "first\n"
        yield Line("second")

    terminal.write_lines(lines())
    assert shown.getvalue() == "first\nsecond\n"
