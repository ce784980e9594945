"""Run coroutines in tests."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_coroutine(coroutine):
    """Run a coroutine to its end in a thread of its own, because Playwright leaves a running event loop in the main thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
