"""Whether the real accelerator can be run here."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.live.live_runs import find_engine

ENGINE = find_engine(find_delegate("mldrift"))
live = pytest.mark.skipif(not ENGINE.is_ready, reason=f"LiteRT's GPU cannot be run here: it lacks {ENGINE.lacks}")
