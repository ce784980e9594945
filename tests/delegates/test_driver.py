"""The profile of an accelerator's driver: the file, and what it does to a simulation."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.driver import OperationSignature
from delegate_sim.delegates.driver_profile import Rejection, rules_covering

FOUND = OperationSignature("ADD", ("FLOAT32", "FLOAT32"), ((1, 4), (1, 4)))


@pytest.mark.parametrize(
    ("rejection", "expected"),
    [
        (Rejection("ADD"), True),
        (Rejection("MUL"), False),
        (Rejection("ADD", ("FLOAT32", "FLOAT32")), True),
        (Rejection("ADD", ("FLOAT32",)), False),
        (Rejection("ADD", rank=2), True),
        (Rejection("ADD", rank=4), False),
        (Rejection("ADD", shapes=((1, 4), (1, 4))), True),
        (Rejection("ADD", shapes=((1, 4), (4,))), False),
    ],
)
def test_rejections(rejection, expected):
    assert (rejection in rules_covering(FOUND)) == expected
