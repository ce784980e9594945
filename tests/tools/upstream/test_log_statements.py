"""The formats of log statements in C++ text, and the table of them."""

from __future__ import annotations

import pytest

from tools.upstream.log_statements import statements_in, table_of


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (
            'TFLITE_LOG_PROD(TFLITE_LOG_WARNING, "Skipped %d kernels because %s "\n    "was missing", count, name);\n',
            [("W", "Skipped %d kernels because %s was missing")],
        ),
        ('LOG(ERROR) << "Cannot reserve " << size() << " bytes of memory";\n', [("E", "Cannot reserve %d bytes of memory")]),
        ('return absl::InternalError(absl::StrCat("Cannot open device ", name));\n', [("E", "Cannot open device %v")]),
        ('MP_RETURN_IF_ERROR(status).SetPrepend() << "Opening calculator failed: ";\n', [("E", "Opening calculator failed:")]),
        ('RET_CHECK(ok).SetCode() << "Opening calculator failed: ";\n', [("E", "Opening calculator failed:")]),
        ('// LOG(ERROR) << "Cannot reserve any memory today";\n', []),
        ('LOG(ERROR) << "failed";\n', []),
    ],
)
def test_formats(text, statements):
    assert list(statements_in(text)) == statements


def test_statements_of_a_component_are_written_once():
    rows = {
        ("A", "x/one.cc", "Cannot open device %v"): ("E", "tf-2.14", "tf-2.14"),
        ("A", "x/two.cc", "Cannot open device %v"): ("E", "litert-1.4", "litert-2.0"),
    }
    assert table_of(rows).splitlines()[3:] == ["= A", "/ one.cc", "E\tCannot open device %v\ttf-2.14\tlitert-2.0"]
