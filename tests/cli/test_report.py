"""``delegate-sim report``."""

from __future__ import annotations

import pytest

from delegate_sim.page import layout
from tests.cli.clicks import invoke
from tests.models import MIXED, chain_model
