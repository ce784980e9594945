"""Reading TOML: messages quote nothing of the document, and numbers and keys are limited."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.foundation.parsing import toml
from delegate_sim.foundation.parsing.toml import line_of


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MARK", "Expected '=' after a key in a key/value pair"),
        ("MARK x", "Expected '=' after a key in a key/value pair"),
        ("[MARK", "Expected ']' at the end of a table declaration"),
        ("a = MARK", "Invalid value"),
        ('a = "MARK\\q"', "Unescaped"),
        ("MARK = 1\nMARK = 2", "Cannot overwrite a value"),
        ("[MARK]\n[MARK]", "A key is set twice (at line 2, column 6)"),
        ("[[MARK]]\n[MARK]", "A key is set twice"),
        ("a = {MARK = 1, MARK = 2}", "A key is set twice"),
        ("a = {MARK = 1}\n[a.MARK]", "A key is set twice"),
        ('a = "MARK\1"', "A character is not allowed (at line 1, column 10)"),
        ("a = 1979-13-45MARK", "Expected newline or end of document after a statement"),
        ('a = """MARK', "Unterminated string"),
        ("a = [MARK", "Invalid value"),
        (".".join(["MARK"] * 70), "A key has more than 64 parts"),
        ("a = " + "9" * 5000, "A value cannot be read"),
    ],
)
def test_messages_quote_nothing_of_the_document(text, message):
    with pytest.raises(toml.TOMLDecodeError) as caught:
        toml.loads(text)
    assert str(caught.value).startswith(message)
    assert "MARK" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 9223372036854775808", 1),
        ("a = 1\nb = [\n  1,\n  0xFFFFFFFFFFFFFFFF,\n]\n", 2),
        ("[[t]]\n[[t]]\nc.d = { e = -9223372036854775809 }", 3),
    ],
)
def test_integers_of_more_than_64_bits(text, line):
    with pytest.raises(toml.TOMLDecodeError) as caught:
        toml.loads(text)
    assert str(caught.value) == f"An integer has more than 64 bits (at line {line}, column 1)"


def test_integers_of_64_bits_are_read():
    assert toml.loads("a = [9223372036854775807, -9223372036854775808]") == {"a": [2**63 - 1, -(2**63)]}


def test_long_documents_use_up_the_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 100)
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading TOML takes more than the limit of 100 steps"):
        toml.loads("#" * 101)


TEXT = """\
# a comment
top = 1

[tool.delegate-sim]
models = [
    "a",  # models
    "b",
]
[tool.delegate-sim.targets.pixel]
delegate = "nnapi"
options = { feature_level = 31, driver_rejects = [
    "ADD",
] }

[[tool.delegate-sim.overrides]]
models = "a"
[[tool.delegate-sim.overrides]]
max-partitions = 1
'quoted key' = 2
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("top",), 2),
        (("tool", "delegate-sim", "models"), 5),
        (("tool", "delegate-sim", "targets"), 9),
        (("tool", "delegate-sim", "targets", "pixel", "delegate"), 10),
        (("tool", "delegate-sim", "targets", "pixel", "options", "feature_level"), 11),
        (("tool", "delegate-sim", "overrides", 0, "models"), 16),
        (("tool", "delegate-sim", "overrides", 1), 17),
        (("tool", "delegate-sim", "overrides", 1, "max-partitions"), 18),
        (("tool", "delegate-sim", "overrides", 1, "quoted key"), 19),
        (("tool", "delegate-sim", "missing"), 4),
        (("nothing", "at", "all"), 1),
        ((), 1),
    ],
)
def test_the_line_of_a_key(key, line):
    assert line_of(TEXT, key) == line
    assert line_of(TEXT.replace("\n", "\r\n"), key) == line


def line_by_prefixes(text, key):
    """Find the line as the definition says: parse every prefix of the document until one has the key."""
    lines = text.splitlines(keepends=True)
    for length in range(len(key), 0, -1):
        start = 0
        for end in range(len(lines)):
            try:
                content = toml.loads("".join(lines[: end + 1]))
            except toml.TOMLDecodeError:
                continue
            if has(content, key[:length]):
                names = [part for part in key[:length] if isinstance(part, str)]
                word = re.compile(rf"(?<![\w-]){re.escape(names[-1])}(?![\w-])")
                own = [number for number in range(start, end + 1) if word.search(lines[number].partition("#")[0])]
                return (own or [start])[0] + 1
            start = end + 1
    return 1


def has(content, key):
    for part in key:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


NAMES = st.sampled_from(["a", "b", "c-d", '"a b"', "'c#'", '"\\u0061"'])
DOTTED = st.lists(NAMES, min_size=1, max_size=3).map(" . ".join)
VALUES = st.recursive(
    st.sampled_from(["1", '"a"', "'b # [{'", '"""\nb = 1\n"" \\"""""', "'''a\n\n[b]'''''", '"c\\"d"', "1979-05-27", "true"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda values: "[ # a ]\n" + ", # b\n".join(values) + "\n]"),
        st.lists(st.tuples(NAMES, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join([f"{name} = {value}" for name, value in pairs]) + "}"
        ),
    ),
    max_leaves=4,
)
STATEMENTS = st.one_of(
    DOTTED.map(lambda name: f"[{name}]  # a"),
    DOTTED.map(lambda name: f"[[{name}]]"),
    st.tuples(DOTTED, VALUES).map(lambda pair: f"  {pair[0]} = {pair[1]}"),
    st.sampled_from(["", "# a = 1 [", "\t"]),
)
KEYS = st.lists(st.sampled_from(["a", "b", "c-d", "a b", "c#", 0, 1]), min_size=1, max_size=5)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STATEMENTS, max_size=9), st.lists(KEYS, min_size=1, max_size=6), st.booleans())
def test_the_line_is_the_one_of_the_first_prefix_with_the_key(statements, keys, has_carriage_returns):
    kept = ""
    for statement in statements:  # leave out what makes the document invalid
        with suppress(toml.TOMLDecodeError):
            toml.loads(f"{kept}{statement}\n")
            kept += f"{statement}\n"
    for key in keys:
        line = line_by_prefixes(kept, key)
        assert line_of(kept.replace("\n", "\r\n") if has_carriage_returns else kept, key) == line, (kept, key)


@pytest.mark.parametrize(
    "repeated",
    [
        "[[a]]\nb = 1\n",
        "k{:04} = 1\n",
        "[t{:04}]\n",
        "k{:04} = [\n1,\n]\n",
        'k{:04} = """\n[\n"""\n',
        "k{:04} = {{ a = 1, b = [{{}}] }}\n",
        "#[\n",
    ],
)
def test_the_work_grows_with_the_length_of_the_document(repeated, monkeypatch):
    def characters_read(count):
        monkeypatch.setattr(toml, "parser", reader := Reader())
        assert line_of("".join(repeated.format(number) for number in range(count)), ("a", count - 1, "b")) >= 1
        return reader.characters

    assert characters_read(200) <= 2.2 * characters_read(100)


class Reader:
    """A reader of TOML that counts the characters that it reads."""

    def __init__(self):
        self.characters = 0

    def loads(self, text):
        self.characters += len(text)
        return toml.parser.loads(text)
