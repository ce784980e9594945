from __future__ import annotations

import pytest

from tests.support.delegates.npu_models import chain


@pytest.fixture
def path(tmp_path):
    """A model whose nodes plugins select in part or wholly."""
    chain(["TANH", "ELU", "SIGN"]).write(tmp_path / "model.tflite")
    return tmp_path / "model.tflite"
