"""Targets with releases of the delegate's platform, such as ``android = ["11", "13"]``."""

from __future__ import annotations

from typing import Any

from ..delegates.base import Delegate
from ..foundation.parsing.invalid_value import InvalidValueError


def platform_options(delegate: Delegate, value: Any) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Return, for each platform release, the suffix of the target's name and the options. A single release has no suffix."""
    platform = delegate.behind.platform
    assert platform is not None
    values = value if isinstance(value, list) else [value]
    names = [str(one) for one in values if isinstance(one, str | int | float) and not isinstance(one, bool)]
    known = platform.all_releases
    unknown = [one for one in values if str(one) not in known]
    if not values or unknown or len(names) < len(values):
        raise InvalidValueError(f"takes a release of {platform.key} or a list of releases ({', '.join(known)})")
    is_single = len(values) == 1
    return [(() if is_single else (f"{platform.key}-{name}",), {platform.option: name}) for name in dict.fromkeys(names)]
