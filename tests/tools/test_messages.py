import ast

import pytest

from tools.messages import inspected_texts


@pytest.mark.parametrize(
    "code",
    [
        "if 'RESHAPE' in cause.change: pass",
        "reason.message.partition(': ')",
        "re.sub('x', '', hint)",
        "case.reason.found == case.op",
        "def f(reason):\n    text = reason.hint or ''\n    return text.startswith('a')",
        "def f(reason):\n    padded = f' {reason.found}'\n    return ' UINT8' in padded",
        "def f(hints):\n    return [own for own in hints if own.endswith('.')]",
        "for note in case.notes:\n    note.partition(': ')",
    ],
)
def test_code_that_reads_a_message_is_found(code):
    assert len(list(inspected_texts(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "print(reason.message)",
        "run.outcome == TAKEN",
        "'x' in names",
        "if reason.hint: pass",
        "names.index(hint)",
        "re.search('x', line)",
    ],
)
def test_other_code_is_not_found(code):
    assert list(inspected_texts(ast.parse(code))) == []


def test_a_writer_may_compare_texts():
    assert list(inspected_texts(ast.parse("cause.found != cause.title"), is_writer=True)) == []
