"""Reading TOML: messages quote nothing of the document, and numbers and keys are limited."""

from __future__ import annotations

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.foundation.parsing import toml


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
