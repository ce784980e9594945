"""The generated documentation stands as the rules make it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.releases.catalogue import KNOWN_RELEASES, PRE_RELEASES, Release
from delegate_sim.results.report.measures import OUTCOMES, TAKEN
from delegate_sim.runtime.run import REFUSED
from delegate_sim_cli.commands.analyze.analyze import command as analyze
from delegate_sim_cli.commands.rules import command
from tools.corpus_tables import releases
from tools.corpus_tables.fixes import passes_table
from tools.docs import codes, commands, formats, numbers, targets
from tools.docs.api import page as api_page
from tools.docs.sections import with_section
from tools.docs.suggestions import page

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "arguments"), [*[(name, ["--delegate", name]) for name in DELEGATE_NAMES], ("micro", ["--micro"])]
)
def test_the_rules_are_documented_as_they_are(page, arguments):
    made = CliRunner().invoke(command, [*arguments, "--format", "markdown"])
    assert made.exit_code == 0
    assert (DOCS / "rules" / f"{page}.md").read_text(encoding="utf-8") == made.output, "run `make docs`"


def test_the_python_interface_is_documented_as_it_is():
    written = (DOCS / "api.md").read_text(encoding="utf-8")
    assert written == api_page(), "run `make docs`"
    assert [name for name in delegate_sim.__all__ if name != "__version__" and f"### {name}\n" not in written] == [
        name for name in delegate_sim.__all__ if name.endswith("Error")
    ]
    assert all(f"| `{name}` |" in written for name in delegate_sim.__all__ if name.endswith("Error"))


def test_the_card_in_the_readme_is_as_the_command_writes_it():
    model = DOCS.parent / "fixtures" / "models" / "transformer_block.tflite"
    made = CliRunner().invoke(analyze, [str(model), "--format", "card"])
    assert made.exit_code == 0
    assert (DOCS / "pictures" / "card.svg").read_text(encoding="utf-8") == made.output, "run `make docs`"


@pytest.mark.parametrize("page", [codes, commands], ids=["codes", "commands"])
def test_codes_and_commands_are_documented_as_they_are(page):
    written = (DOCS / f"{page.__name__.rpartition('.')[2]}.md").read_text(encoding="utf-8")
    assert written == page.page(), "run `make docs`"


def test_the_table_of_wrong_numbers_is_as_the_rules_have_it():
    written = numbers.PAGE.read_text(encoding="utf-8")
    assert written == numbers.page(written), "run `make docs`"


def test_the_tables_of_targets_are_as_the_code_has_them():
    written = targets.PAGE.read_text(encoding="utf-8")
    assert written == targets.page(written), "run `make docs`"


def test_columns_and_measures_are_documented_as_declared():
    changed = [path.name for path, text in formats.pages() if path.read_text(encoding="utf-8") != text]
    assert changed == [], "run `make docs`"


def test_the_schemas_are_listed():
    written = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert [path.name for path in (DOCS / "schemas").iterdir() if f"](schemas/{path.name})" not in written] == []


def test_the_outcomes_in_tables_are_listed_in_order():
    section = (DOCS / "formats.md").read_text(encoding="utf-8").partition("| outcome in tables and measures |")[2]
    rows = section.partition("\n\n")[0].splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(OUTCOMES)
    assert {row.split("`")[3] for row in rows} == {TAKEN, "none", REFUSED, "restored"}


def test_the_passes_of_fix_are_documented_as_they_are():
    written = (DOCS / "passes.md").read_text(encoding="utf-8")
    assert written == with_section(written, "passes", passes_table()), "run `make fix-table ARGS=--only-passes`"


def test_the_suggestions_are_documented_as_they_are():
    assert (DOCS / "suggestions.md").read_text(encoding="utf-8") == page(), "run `make docs`"


def test_every_release_that_installs_is_measured_and_loads_what_is_said():
    rows = [line.strip("| ").split(" | ") for line in (DOCS / "appendix" / "loading.md").read_text(encoding="utf-8").splitlines()]
    measured = {row[0]: row[2:5] for row in rows if len(row) == 7 and row[2].isdigit()}
    assert {(models, differences) for models, _, differences in measured.values()} == {("200", "0")}
    families = {"ai-edge-litert": "litert", "tensorflow-cpu": "tf", "tflite-runtime": "tf"}
    releases = [(families[name], version) for name, version in map(str.split, measured)]
    not_on_the_index = {"litert-1.4.1", *(str(Release(*release)) for release in PRE_RELEASES)}
    for release in set(KNOWN_RELEASES) - not_on_the_index:
        family, _, version = release.partition("-")
        assert any(each == family and f"{found}.".startswith(f"{version}.") for each, found in releases), release


@pytest.mark.skipif(not releases.MODELS.exists(), reason="the converted models (../shared) are not here")
def test_the_page_of_releases_is_as_the_tool_makes_it():
    """The first of three models, for time's sake."""
    made = "\n".join(islice(releases.sections(), 2))
    assert (DOCS / "appendix" / "releases.md").read_text(encoding="utf-8").startswith(made), "run `make releases`"
