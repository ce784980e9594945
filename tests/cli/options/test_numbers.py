"""Options that are numbers."""

import pytest


@pytest.mark.parametrize("number", ["nan", "inf", "1e400"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "model.keras", "--time-limit"),
        ("sweep", "model.keras", "--memory-limit"),
        ("sweep", "model.keras", "--max-difference"),
        ("verify", "a.tflite", "b.tflite", "--tolerance"),
    ],
)
def test_a_number_that_is_not_finite_is_refused(run, arguments, number):
    result = run(*arguments, number)
    assert result.exit_code == 2
    assert "is not a finite number" in result.stderr
