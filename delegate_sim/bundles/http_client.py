"""An HTTP client for fsspec that limits what a server can send, and to which host it can lead.

fsspec imports aiohttp only for URLs of HTTP. So does this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import aiohttp
import yarl

from ..foundation.limits import how_to_raise, raised
from .bundle_error import BundleError

_MOST_BYTES = 1 << 28
"""Largest number of bytes of an answer. An answer to a request for a part has at most the requested bytes."""
_MOST_BYTES_OF_A_PAGE = 1 << 20
"""Largest number of bytes of a page with the links to the files of a folder."""
_MOST_PAGES = 1000
"""Largest number of such pages that are read. A server can make up folders inside of folders without end."""
_MOST_REDIRECTS = 5
_RANGE = re.compile(r"bytes=([0-9]{1,18})-([0-9]{1,18})")
_LINK = re.compile(r"""(?:href|HREF)=["']([^"'<>\s]{1,2000})["']""")
_PARTIAL = 206


class _Facts:
    def __init__(self) -> None:
        self.with_parts: set[str] = set()
        """The hosts that have answered a request for a part with this part."""
        self.pages = 0


class _LimitedResponse(aiohttp.ClientResponse):
    """An answer with a limited number of bytes. A page has only its links."""

    known = _Facts()

    async def read(self) -> bytes:
        """Read the body. Raises BundleError if it is too large."""
        if self._body is None:
            self._body = await self._limited(self._most)
        return self._body

    async def text(self, encoding: str | None = None, errors: str = "strict") -> str:
        """Read a page, and return its links as HTML. Raises BundleError if it is too large, or too many pages were read."""
        self.known.pages += 1
        if self.known.pages > raised(_MOST_PAGES):
            raise BundleError(f"the server has more than {raised(_MOST_PAGES):,} folders{how_to_raise()}")
        page = (await self._limited(raised(_MOST_BYTES_OF_A_PAGE))).decode("utf-8", "replace")
        return "\n".join([f'<a href="{link}">' for link in _LINK.findall(page)])

    @property
    def _most(self) -> int:
        asked = _RANGE.fullmatch(self.request_info.headers.get("Range", ""))
        host = self.url.authority
        if asked is None:
            return raised(_MOST_BYTES)
        if self.status == _PARTIAL:
            self.known.with_parts.add(host)
        # A server without parts answers with the whole file. It does so at once, before several parts are requested together.
        return int(asked[2]) - int(asked[1]) + 1 if host in self.known.with_parts else raised(_MOST_BYTES)

    async def _limited(self, most: int) -> bytes:
        content = bytearray()
        async for piece in self.content.iter_any():
            content += piece
            if len(content) > most:
                self.close()
                raise BundleError(f"the server sends more than {most:,} bytes{how_to_raise()}")
        return bytes(content)


async def limited_client(**options: Any) -> aiohttp.ClientSession:
    """Return a client session that follows few redirects, only to the same host, and limits the sizes of answers."""
    trace = aiohttp.TraceConfig()

    async def check_redirect(session: Any, context: Any, details: aiohttp.TraceRequestRedirectParams) -> None:
        context.count = getattr(context, "count", 0) + 1
        target = details.url.join(yarl.URL(details.response.headers.get("Location", "")))
        if _server(target) not in _servers(details.url):
            raise BundleError(f"redirects to another server, {target.scheme}://{target.host}: give the URL there if you trust it")
        if context.count > _MOST_REDIRECTS:
            raise BundleError(f"redirects more than {_MOST_REDIRECTS} times")

    trace.on_request_redirect.append(check_redirect)
    known = type("_Response", (_LimitedResponse,), {"known": _Facts()})
    return aiohttp.ClientSession(response_class=known, trace_configs=[trace], **options)


def _server(url: yarl.URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.host, url.port


def _servers(url: yarl.URL) -> Iterator[tuple[str, str | None, int | None]]:
    yield _server(url)
    if url.scheme == "http" and url.port == 80:
        yield "https", url.host, 443
