"""What the tests of the model build share."""

from __future__ import annotations

import pytest

from .sketch import Sketch


@pytest.fixture
def sketch():
    return Sketch()
