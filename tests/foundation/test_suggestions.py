"""Near matches for mistyped names."""

from __future__ import annotations

import pytest

from delegate_sim.foundation.printable import suggestion

_NAMES = ("nnapi", "gpu", "npu-google", "npu-intel", "tf-2.15", "tf-2.10", "litert-2.1")


@pytest.mark.parametrize(
    ("word", "clause"),
    [
        ("nnpai", "; did you mean nnapi?"),
        ("GPUU", "; did you mean gpu?"),
        ("npu", "; did you mean npu-google, npu-intel?"),
        ("2.15", "; did you mean tf-2.15?"),
        ("2.1", "; did you mean litert-2.1?"),
        ("other", ""),
        ("", ""),
    ],
)
def test_near_matches(word, clause):
    assert suggestion(word, _NAMES) == clause


def test_a_cutoff_leaves_out_names_that_are_less_similar():
    assert suggestion("tf-9", ("tf-2.19",)) == "; did you mean tf-2.19?"
    assert suggestion("tf-9", ("tf-2.19",), cutoff=0.75) == ""
