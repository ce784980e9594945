"""Fixtures of the tests of the model build."""

from __future__ import annotations

import pytest

from tests.support.delegates.gpu_sketch import Sketch


@pytest.fixture
def sketch():
    return Sketch()
