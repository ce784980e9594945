"""Rules of resizing images."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_cases.resizing import CASES
from tests.support.delegates.nnapi_rule_cases import assert_failures


@pytest.mark.parametrize("case", CASES.all, ids=lambda case: case.name)
def test_failures_in_order_at_every_level(case):
    assert_failures(case)
