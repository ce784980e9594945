"""Commands that services which run the program find in its output."""

from __future__ import annotations


def commands(text):
    """Return the commands that GitHub's runner finds: those of the newer form first, as it does (``ActionCommand.cs``)."""
    found = []
    for line in text.split("\n"):
        trimmed = line.lstrip()
        if trimmed.startswith("::") and "::" in trimmed[2:]:
            found.append(trimmed)
            continue
        start = line.find("##[")
        if start >= 0 and "]" in line[start:]:
            found.append(line[start:])
        if "##vso[" in line or "##teamcity[" in line:
            found.append(line)
    return found
