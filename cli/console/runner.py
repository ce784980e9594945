"""Neutralize text that a CI runner would interpret as a workflow command.

GitHub's runner looks for ``::command::`` at the start of a line (after any whitespace) and for ``##[command]`` anywhere in a line
(``ActionCommand.cs`` of ``actions/runner``). Azure's runner looks for ``##vso[``, and TeamCity's for ``##teamcity[``.
"""

from __future__ import annotations

import re

_HASH = {"json": "#\\u0023", "sarif": "#\\u0023", "gitlab": "#\\u0023", "junit": "#&#35;", "markdown": "#\\#"}
"""The replacement for the ``##`` of a command, keyed by format. Other formats use a visible escape (``#\\x23``)."""
_COLON = {"junit": "&#58;", "markdown": "\\:"}
_OWN_COMMANDS = "github"
"""The format that contains workflow commands on purpose. The module of this format escapes the text in these commands."""


def neutral(text: str, form: str) -> str:
    """Neutralize runner commands in text of the format ``form``. The meaning of JSON and XML does not change."""
    if "##" in text:
        text = re.sub(r"##(?=\w*\[)", lambda _: _HASH.get(form, "#\\x23"), text)
    if "::" in text and form != _OWN_COMMANDS:
        text = re.sub(
            r"^([^\S\n]*):(?=:)", lambda match: f"{match[1]}{_COLON.get(form, chr(92) + 'x3a')}", text, flags=re.MULTILINE
        )
    return text
