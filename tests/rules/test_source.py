"""Every source of a rule has its lines, and links end with them."""

from __future__ import annotations

import re

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.micro.preparation import RULES
from delegate_sim.micro.target import NAME as MICRO
from delegate_sim.rules.rule import LITERT, Repository, Source, recorded_lines
from tools.sources import FILE, LONGEST_WITHOUT_BRANCHES, file_text, named_sources

VALIDATE = Source(LITERT, "tflite/delegates/nnapi/nnapi_delegate.cc", "NNAPIDelegateKernel::Validate")
FEW_LINES = 500
NAMES = (*DELEGATE_NAMES, MICRO)
"""More than any function has but two, whose operators have branches."""


def sources_of(name):
    return named_sources((RULES,) if name == MICRO else find_delegate(name).rule_books)


@pytest.mark.parametrize("name", NAMES)
def test_every_source_has_its_lines(name):
    for source, ops in sources_of(name).items():
        first, last = source.lines
        assert 1 <= first <= last, source
        assert source.url.endswith(f"/{source.repository.commit}/{source.file}#L{first}-L{last}")
        for op in ops:
            branch = source.of_operator(op)
            assert first <= branch.lines[0] <= branch.lines[1] <= last, (source, op)
            assert branch == source or last - first >= LONGEST_WITHOUT_BRANCHES, (source, op)


@pytest.mark.parametrize("name", NAMES)
def test_no_rule_points_at_a_whole_long_function(name):
    for source, ops in sources_of(name).items():
        for op in filter(None, ops):
            first, last = source.of_operator(op).lines
            assert last - first < FEW_LINES, (source, op)


def test_no_lines_are_left_over():
    named = {
        (f"{source.repository.name}@{source.repository.commit}", source.file, place.part)
        for name in NAMES
        for source, ops in sources_of(name).items()
        for place in [source, *map(source.of_operator, ops)]
    }
    written = {
        (commit, file, part) for commit, files in recorded_lines().items() for file, parts in files.items() for part in parts
    }
    assert written == named


def test_the_file_is_as_it_is_written():
    assert FILE.read_text(encoding="utf-8") == file_text(recorded_lines())


def test_an_operator_of_a_long_function_has_its_branch():
    branch = VALIDATE.of_operator("ADD")
    assert branch.branch == "ADD"
    assert VALIDATE.lines[0] < branch.lines[0] < branch.lines[1] < VALIDATE.lines[1]
    assert branch.of_operator("MUL") == branch
    assert VALIDATE.of_operator("CUSTOM") == VALIDATE
    assert re.fullmatch(r"tflite/delegates/nnapi/nnapi_delegate\.cc#L\d+-L\d+: NNAPIDelegateKernel::Validate", str(branch))


def test_a_source_without_lines_links_to_its_file():
    source = Source(Repository("example/x", "0" * 40), "x.cc", "IsSupported")
    assert source.lines is None
    assert source.of_operator("ADD") == source
    assert source.url == f"https://github.com/example/x/blob/{'0' * 40}/x.cc"
    assert str(source) == "x.cc: IsSupported"


def test_another_symbol_has_no_branch():
    assert VALIDATE.with_branch("ADD").with_symbol("ExpectMaxOpVersion").part == "ExpectMaxOpVersion"
    assert VALIDATE.with_symbol("Check", "int").with_branch("ADD").part == "Check, int, ADD"
