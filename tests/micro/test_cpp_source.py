"""C++ source without comments, literals and code that is never compiled."""

from __future__ import annotations

import pytest

from delegate_sim.errors import LimitError, OptionError
from delegate_sim.foundation import work_budget
from delegate_sim.micro.resolver import parse_resolver, read_cpp
from tests.support.work import calls


def code_of(text):
    return read_cpp(text).code.split()


@pytest.mark.parametrize(
    "text",
    [
        "a // b",
        "a // b \\\nb",
        "a /* b\n b */",
        "a /* b",
        "a /* // */ /* b */",
        "a 'b'",
        r"a '\'b'",
        r"""a '"' /* b */""",
        "#if 0\nb\n#endif\na",
        "#if 0\nb\n#else\na\n#endif",
        "#if 0 // b\nb\n#elif 1\na\n#else\nb\n#endif",
        "#if (false) /* b\n*/\nb\n#endif\na",
        "#if 1\na\n#elif B\nb\n#else\nb\n#endif",
        "#if 0\n#if 1\nb\n#else\nb\n#endif\nb\n#endif\na",
        "  #  if 0\r\nb\r\n  #  endif\r\na",
        "#if 0\nb it's\n#endif\na",
        '#if 0\nb "b\n#endif\na',
        "/*\n#if 0\n*/ a",
        "a\n#if 0\nb",
    ],
)
def test_only_compiled_code_stays(text):
    assert code_of(text) == ["a"]


@pytest.mark.parametrize("opening", ["#ifdef X", "#ifndef X", "#if X", "#if defined(X) && X > 1"])
def test_all_branches_of_an_unknown_condition_stay(opening):
    assert code_of(f"{opening}\na\n#elif Y\nb\n#else\nc\n#endif\nd") == ["a", "b", "c", "d"]
    assert code_of(f"{opening}\na\n#elif 0\nb\n#else\nc\n#endif") == ["a", "c"]
    assert code_of(f"{opening}\na\n#elif 1\nb\n#else\nc\n#endif") == ["a", "b"]


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"a // b"', "a // b"),
        (r'"a\"b"', 'a"b'),
        (r'"\x41"', r"\x41"),
        ('u8"a"', "a"),
        (r'R"(a\n)"', r"a\n"),
        ('R"x(a)" /* b */ )x"', 'a)" /* b */ '),
        ('LR"(#if 0\n)"', "#if 0\n"),
        ('"a" /* b */ "c"', "ac"),
        ('"a', "a"),
    ],
)
def test_literals_are_kept_apart(literal, text):
    source = read_cpp(f"f({literal}")
    assert source.string(source.code) == text
    assert not set("abc") & set(source.code)


def test_quotes_in_numbers_and_names_open_no_literal():
    assert code_of("f(1'000); a'b'c") == ["f(1'000);", "a", "c"]
    assert code_of('FOOR"(b" a') == ['FOOR"0"', "a"]


def test_stray_directives_change_nothing():
    assert code_of("#endif\n#else\na\n#define B b") == ["a", "#define", "B", "b"]


@pytest.mark.parametrize("part", ["#if A\nx\n", "#if 0\n", '"a', "a 1 ", "AddA<", "a::"])
def test_twice_the_source_is_twice_the_work(part):
    once, twice = (calls(parse_resolver, f"AddAdd();\n{part * count}") for count in (1000, 2000))
    assert twice < 2.6 * once


def test_nested_conditionals():
    assert code_of("#if 0\n#if A\n#else\nb\n#endif\n#endif\n#endif\na\n#if B\na\n#if 0\nb\n#endif\na\n#endif\na") == ["a"] * 4


@pytest.mark.parametrize(("text", "literal"), [('"a\\\\" b', "a\\"), ('"a\\"b"', 'a"b'), ('"a', "a"), ('""', "")])
def test_escapes_in_literals(text, literal):
    assert read_cpp(text).strings[0] == literal


@pytest.mark.parametrize("number", ["1", "1'000", "0x1p3", "1'", "1.5'5"])
def test_numbers(number):
    assert read_cpp(f"{number} 'c'").code.split()[0].rstrip("'") == number.rstrip("'")


def test_source_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 100)
    with work_budget.work_budget(), pytest.raises(LimitError):
        read_cpp("a" * 101)
    with work_budget.work_budget(), pytest.raises(OptionError, match=r"cannot be read: reading C\+\+ source takes more"):
        parse_resolver("a" * 101)
