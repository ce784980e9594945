"""Numbers, strips and tables in the text that commands print."""

from __future__ import annotations

from collections import Counter

from delegate_sim_cli.text.elements import paragraphs
from delegate_sim_cli.text.elements.paragraphs import log_lines, table, with_ranges, without_numbers


def test_texts_that_differ_in_numbers_become_ranges():
    assert with_ranges(["size [1,64] of INT8", "size [1,8] of INT8"]) == "size [1,8 to 64] of INT8"
    assert with_ranges(["axis -1", "axis 2"]) == "axis -1 to 2"
    assert with_ranges(["the same 3", "the same 3"]) == "the same 3"


def test_digits_in_names_are_no_numbers():
    assert without_numbers("CONV_2D of INT8") != without_numbers("CONV_3D of INT16")


ROWS = [
    ("model", "delegate", "nodes", "kernels", "first cause", "without it"),
    ("a.tflite", "nnapi", "1,200", "3", "operator:GELU and much more", "100 %"),
]
NUMBERS = (2, 3)


def texts(width: int) -> list[str]:
    return [line.text for line in table(ROWS, NUMBERS, width, keys=2)]


def test_columns_that_fit_are_one_table():
    assert len(texts(90)) == 2


def test_a_table_that_fits_is_laid_out_as_by_rich(monkeypatch):
    plain = texts(90)
    monkeypatch.setattr(paragraphs, "_padded", None)  # fails if the short layout is used
    narrow = next(width for width in range(90, 0, -1) if _needs_rich(width))
    assert plain == texts(narrow)


def _needs_rich(width):
    try:
        texts(width)
    except TypeError:
        return False
    return True


def test_text_at_the_end_of_a_line_wraps_between_words():
    assert texts(62)[:3] == [
        "  model     delegate  nodes  kernels  first cause",
        "  a.tflite  nnapi     1,200        3  operator:GELU and much",
        "                                      more",
    ]


def test_text_that_does_not_fit_follows_its_row():
    assert texts(40) == [
        "  model     delegate  nodes  kernels",
        "  a.tflite  nnapi     1,200        3",
        "      first cause: operator:GELU and",
        "        much more",
        "      without it: 100 %",
    ]
    rows = [("name", "nodes", "blocker"), ("a", "1", "GELU 1: a-very-long-code-of-a-refusal"), ("b", "2", "")]
    assert [line.text for line in table(rows, (1,), 43)] == [
        "  name  nodes",
        "      blocker",
        "  a         1",
        "      GELU 1: a-very-long-code-of-a-refusal",
        "  b         2",
    ]


def test_numbers_that_do_not_fit_are_tables_of_their_own():
    rows = [("name", "nodes", "multiply-adds"), ("mobilenet", "1,200", "1,234,567")]
    assert [line.text for line in table(rows, (1, 2), 28)] == [
        "  name       nodes",
        "  mobilenet  1,200",
        "",
        "  name       multiply-adds",
        "  mobilenet      1,234,567",
    ]


def test_nothing_is_cut_at_any_width():
    expected = Counter("".join(["".join(row) for row in ROWS]))
    for width in range(20, 90):
        lines = texts(width)
        assert max(map(len, lines)) <= width
        assert all(Counter("".join(lines))[character] >= expected[character] for character in expected if character != " ")
        assert any("1,200" in line for line in lines), width


def test_wide_characters_hide_no_column():
    rows = [("operator", "MT6989", "nodes"), ("\u65e5\u672c\u8a9e" * 8, "not created", "1,234")]
    text = "\n".join([line.text for line in table(rows, (2,), 60)])
    assert (text.count("\u65e5"), text.count("not created"), text.count("1,234")) == (16, 1, 1)


def test_a_single_column_is_a_table():
    assert [line.text for line in table([("count",), ("12",)], (0,), 60)] == ["  count", "     12"]


def test_brackets_and_emoji_names_are_text():
    assert [line.text for line in table([("[bold]a[/]", ":smile:")], (), 60)] == ["  [bold]a[/]  :smile:"]


def test_the_environment_does_not_change_a_table(monkeypatch):
    expected = texts(60)
    for name, value in {
        "COLUMNS": "20",
        "FORCE_COLOR": "1",
        "TTY_COMPATIBLE": "1",
        "TERM": "dumb",
        "JPY_PARENT_PID": "1",
    }.items():
        monkeypatch.setenv(name, value)
    assert texts(60) == expected


def test_optional_columns_are_left_out_before_a_table_is_split():
    rows = [("name", "bytes", "kernels", "zeros", "blocker"), ("mldrift", "12,328", "1", "0", "ARG_MAX 1: some-code")]
    right = (1, 2, 3)

    def titles(width, optional):
        return [line.text.split() for line in table(rows, right, width, optional=optional) if "name" in line.text]

    assert titles(80, (1, 2, 3)) == [["name", "bytes", "kernels", "zeros", "blocker"]]
    assert titles(50, (1, 2, 3)) == [["name", "bytes", "kernels", "blocker"]]
    assert titles(42, (1, 2, 3)) == [["name", "kernels", "blocker"]]
    assert titles(34, (1, 2, 3)) == [["name", "blocker"]]
    assert len(titles(34, ())) > 1


def test_a_text_of_several_lines_in_a_log_is_several_lines():
    assert [line.text for line in log_lines(["one\ntwo", "three"])] == ["one", "two", "three"]
