"""Names of releases."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import parse_release


@pytest.mark.parametrize("release", ["", "2.15", "tf-2.9", "litert-2", "torch-2.1", "tf-2.15.0.0"])
def test_an_unknown_release_names_the_known_ones(release):
    with pytest.raises(OptionError, match=r"tf-2\.10, .*litert-2\.3"):
        parse_release(release)
