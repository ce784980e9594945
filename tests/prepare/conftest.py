"""The kernels that tests prepare."""

from __future__ import annotations

import pytest

from tests.support.kernels import Kernels


@pytest.fixture(scope="session")
def kernels() -> Kernels:
    return Kernels()
