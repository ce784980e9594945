"""Targets that name releases of the platform behind a delegate, such as ``android = ["11", "13"]``."""

from __future__ import annotations

from typing import Any

from ..delegates.base import Delegate


def platform_options(delegate: Delegate, value: Any) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Return, for each release, what to add to the target's name and the option; the name stays as it is for a single one."""
    platform = delegate.platform
    assert platform is not None
    given = value if isinstance(value, list) else [value]
    names = [str(one) for one in given if isinstance(one, str | int) and not isinstance(one, bool)]
    unknown = [one for one in given if str(one) not in platform.releases]
    if not given or unknown or len(names) < len(given):
        known = ", ".join(platform.releases)
        raise ValueError(f"takes a release of {platform.key} or a list of them ({known}), not {value!r}")
    is_single = len(given) == 1
    return [(() if is_single else (f"{platform.key}-{name}",), {platform.option: name}) for name in dict.fromkeys(names)]
