from __future__ import annotations

import pytest

from delegate_sim.foundation.toml_lines import line_of

TEXT = """\
# a comment
top = 1

[tool.delegate-sim]
models = [
    "a",  # models
    "b",
]
[tool.delegate-sim.targets.pixel]
delegate = "nnapi"
options = { feature_level = 31, driver_rejects = [
    "ADD",
] }

[[tool.delegate-sim.overrides]]
models = "a"
[[tool.delegate-sim.overrides]]
max-partitions = 1
'quoted key' = 2
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("top",), 2),
        (("tool", "delegate-sim", "models"), 5),
        (("tool", "delegate-sim", "targets"), 9),
        (("tool", "delegate-sim", "targets", "pixel", "delegate"), 10),
        (("tool", "delegate-sim", "targets", "pixel", "options", "feature_level"), 11),
        (("tool", "delegate-sim", "overrides", 0, "models"), 16),
        (("tool", "delegate-sim", "overrides", 1), 17),
        (("tool", "delegate-sim", "overrides", 1, "max-partitions"), 18),
        (("tool", "delegate-sim", "overrides", 1, "quoted key"), 19),
        (("tool", "delegate-sim", "missing"), 4),
        (("nothing", "at", "all"), 1),
        ((), 1),
    ],
)
def test_the_line_of_a_key(key, line):
    assert line_of(TEXT, key) == line
    assert line_of(TEXT.replace("\n", "\r\n"), key) == line
