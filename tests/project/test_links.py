"""Names in the README and in docs exist: files that links lead to, commands and their options in examples."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim_cli.main import program

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "skills" / "delegate-sim" / "SKILL.md"
PAGES = [ROOT / "README.md", ROOT / "AGENTS.md", SKILL, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = {f"--{option.flag.replace('_', '-')}" for name in DELEGATE_NAMES for option in find_delegate(name).options if option.flag}


def prose(text):
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def missing_links(page, text):
    """Return the links of a page that lead nowhere in the repository."""
    links = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    missing = [link for link in local if link.partition("#")[0] and not (page.parent / link.partition("#")[0]).exists()]
    for link in local:
        file, _, anchor = link.partition("#")
        target = page if not file else page.parent / file
        if anchor and target.suffix == ".md" and target.exists() and anchor not in anchors(target.read_text(encoding="utf-8")):
            missing.append(link)
    return missing


def anchors(text):
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(text):
    """Return the commands of this program in examples, as words."""
    lines = re.findall(r"^\$ (delegate-sim .*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def unknown_options(words):
    """Return the options of a command line that the command does not have; raises KeyError for an unknown command."""
    command = program.get_command(click.Context(program), words[1])
    if command is None:
        raise KeyError(words[1])
    known = {opt.replace("_", "-") for each in command.params for opt in (*each.opts, *each.secondary_opts)} | FLAGS | {"--help"}
    given = [word.partition("=")[0].replace("_", "-") for word in words[2:] if re.match(r"--?[a-z]", word)]
    return [option for option in given if option not in known]


def test_links_lead_somewhere():
    missing = {page.relative_to(ROOT).as_posix(): missing_links(page, page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: links for name, links in missing.items() if links} == {}


def test_commands_in_examples_have_their_options():
    examples = [(page, words) for page in PAGES for words in commands(page.read_text(encoding="utf-8"))]
    unknown = {f"{page.relative_to(ROOT)}: {shlex.join(words)}": unknown_options(words) for page, words in examples}
    assert {example: options for example, options in unknown.items() if options} == {}


def test_the_page_for_assistants_names_every_command_with_options_that_exist():
    examples = [shlex.split(text) for text in re.findall(r"`(delegate-sim (?!COMMAND)[^`]+)`", SKILL.read_text(encoding="utf-8"))]
    assert [words for words in examples if unknown_options(words)] == []
    assert {*program.list_commands(click.Context(program))} - {words[1] for words in examples} <= {"report", "export", "mcp"}


def test_what_is_missing_is_found():
    text = "[a](nowhere.md) [b](README.md#no-such-heading) [c](https://example.com)\n```\n[d](code.md)\n```\n"
    assert missing_links(ROOT / "README.md", text) == ["nowhere.md", "README.md#no-such-heading"]
    assert commands("$ delegate-sim analyze m --no-such --delegate nnapi  # comment\n")[0][-1] == "nnapi"
    assert unknown_options(["delegate-sim", "analyze", "m", "--no-such", "--delegate", "nnapi"]) == ["--no-such"]
    with pytest.raises(KeyError):
        unknown_options(["delegate-sim", "no-such"])


def test_the_readme_is_read_in_two_minutes_and_starts_with_a_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 600
    assert text.index("![") < text.index("## ")
    assert {"make demo", "make test"} <= {line.partition("  ")[0] for line in text.splitlines()}


def test_every_page_is_reached_from_the_readme():
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)#\s:]+)", prose(page.read_text(encoding="utf-8")))
        ahead += [(page.parent / link).resolve() for link in links]
    assert [page.name for page in PAGES if page not in seen] == []
