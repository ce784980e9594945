"""Helpers that depend on the release of click."""

from __future__ import annotations

import click
import pytest

NEEDS_NEWER_CLICK = pytest.mark.skipif(
    not hasattr(click.exceptions, "NoArgsIsHelpError"), reason="click before 8.2 words this itself, and ends with 0 after help"
)
