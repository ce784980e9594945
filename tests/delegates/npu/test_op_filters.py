"""Files of op filters, and regular expressions as RE2 reads them."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.npu.op_filters import NOT_ON_TPU, ON_TPU, UNPARSABLE, parsed


@pytest.mark.parametrize(
    ("text", "behavior", "patterns"),
    [
        ("", NOT_ON_TPU, ()),
        ("# nothing\n", NOT_ON_TPU, ()),
        ("filter_behavior: MATCHES_RUN_ON_TPU", ON_TPU, ()),
        ("filter_behavior: 1;", ON_TPU, ()),
        ("filters { op_name_pattern: \"a\" } filters: < op_name_pattern: 'b' >", NOT_ON_TPU, ("a", "b")),
        ('filters: [ { op_name_pattern: "a" }, { op_name_pattern: "b" "c" } ]', NOT_ON_TPU, ("a", "bc")),
        ("filters { }", NOT_ON_TPU, ("",)),
        (r'filters { op_name_pattern: "a\\.b\t\x41\101" }', NOT_ON_TPU, ("a\\.b\tAA",)),
    ],
)
def test_messages(text, behavior, patterns):
    found = parsed(text)
    assert (found.fault, found.behavior, found.patterns) == ("", behavior, patterns)


@pytest.mark.parametrize(
    "text",
    [
        "filters { nope: 1 }",
        "filters {",
        'filters { op_name_pattern "a" }',
        'filters { op_name_pattern: "a" op_name_pattern: "b" }',
        "filter_behavior: SOMETHING",
        "filter_behavior: MATCHES_RUN_ON_TPU filter_behavior: MATCHES_RUN_ON_TPU",
        'filters [ { op_name_pattern: "a" } ]',
        'filters { op_name_pattern: "\\q" }',
        "!",
        "filter_behavior 1",
    ],
)
def test_what_is_no_message(text):
    assert parsed(text).fault == UNPARSABLE


def test_empty_patterns_are_skipped_with_a_warning():
    match = parsed('filters { } filters { op_name_pattern: "a" }').match(["a"])
    assert not match.is_kept
    assert match.lines[0] == "Empty op_name_pattern in OpFilter."
