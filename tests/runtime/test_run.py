"""Runs as plain data and for a reader."""

from __future__ import annotations

import json

from delegate_sim.runtime.run import option_values


def test_options_are_fit_for_json():
    class Profile:
        def __str__(self):
            return "driver.toml"

    options = {"a": None, "b": True, "c": 3, "d": 0.5, "e": "x", "f": ("y", "z"), "g": Profile()}
    found = option_values(options)
    assert found == {"a": None, "b": True, "c": 3, "d": 0.5, "e": "x", "f": ["y", "z"], "g": "driver.toml"}
    assert json.loads(json.dumps(found)) == found
