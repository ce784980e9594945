"""Servers that send more than was asked, or lead to another server."""

from __future__ import annotations

import contextlib
import http.server
import threading

import pytest

import delegate_sim
from delegate_sim.bundles import stores
from delegate_sim.bundles.stores import RemoteFile, models_at
from delegate_sim.errors import LimitError, ModelError
from delegate_sim.foundation import work_budget
from tests.support.models import chain_model

pytest.importorskip("fsspec", reason="remote stores need fsspec")
pytest.importorskip("aiohttp", reason="URLs need aiohttp")
http_client = pytest.importorskip("delegate_sim.bundles.http_client")

MODEL = chain_model(["ADD"]).bytes()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers by the name of the path."""

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self._answer()

    def do_GET(self):
        self._answer()

    def _answer(self):
        name = self.path.strip("/").split("/")[0].partition(".")[0]
        if name in ("away", "same", "loop"):
            host = self.server.server_address[1]
            target = {"away": f"http://localhost:{host}/plain.tflite", "same": "/plain.tflite", "loop": "/loop.tflite"}[name]
            self._head(302, {"Location": target, "Content-Length": "0"})
        elif name == "endless":
            self._head(200, {})
            self._send(MODEL * 1000)
        elif name == "lying":
            self._head(200, {"Content-Length": str(1 << 17), "Accept-Ranges": "bytes"})
            self._send(bytes(1 << 17))
        elif name == "parts" and "Range" in self.headers:
            self._head(206, {"Content-Range": f"bytes 0-4095/{1 << 20}"})
            self._send(bytes(self.server.part))
        elif name in ("huge", "parts"):
            self._head(200, {"Content-Length": str(1 << 45 if name == "huge" else 1 << 20), "Accept-Ranges": "bytes"})
        elif name == "folder":
            self._head(200, {"Content-Type": "text/html"})
            self._send(b"<a " + b" " * 2000 + b'><a href="deeper/"><a href="m.tflite">')
        else:
            self._head(200, {"Content-Length": str(len(MODEL))} if name == "plain" else {})
            self._send(MODEL)

    def _head(self, status, headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def _send(self, content):
        if self.command == "GET":
            with contextlib.suppress(OSError):  # the client may close the connection
                self.wfile.write(content)


@pytest.fixture
def server():
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def url(server):
    return f"http://127.0.0.1:{server.server_address[1]}"


@pytest.mark.parametrize("name", ["plain", "nosize", "same"])
def test_an_honest_server(url, name):
    assert delegate_sim.load(f"{url}/{name}.tflite").sha256 == delegate_sim.load(MODEL).sha256


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("away", "redirects to another server, http://localhost: give the URL there if you trust it"),
        ("loop", "redirects more than 5 times"),
    ],
)
def test_redirects(url, name, message):
    with pytest.raises(ModelError) as raised:
        delegate_sim.load(f"{url}/{name}.tflite")
    assert str(raised.value) == f"{url}/{name}.tflite: {message}"


def test_a_file_without_end(url, monkeypatch):
    monkeypatch.setattr(http_client, "_MOST_BYTES", 10_000)
    with pytest.raises(ModelError, match="the server sends more than 10,000 bytes; "):
        delegate_sim.load(f"{url}/endless.tflite")


def test_a_size_that_is_too_large(url):
    with pytest.raises(ModelError, match=f"has {1 << 45:,} bytes, more than the limit of 274,877,906,944 bytes; "):
        delegate_sim.load(f"{url}/huge.tflite")
    assert stores._MOST_SIZE < 1 << 45


def test_an_answer_without_end(url, monkeypatch):
    monkeypatch.setattr(http_client, "_MOST_BYTES", 100_000)
    with pytest.raises(ModelError, match="the server sends more than 100,000 bytes; "):
        delegate_sim.load(f"{url}/lying.tflite")


def test_a_part_has_at_most_the_asked_bytes(server, url):
    file = RemoteFile(f"{url}/parts.tflite")
    server.part = 4096
    assert len(file.parts([(0, 4096)])[0]) == 4096
    server.part = 5000
    with pytest.raises(stores.BundleError, match="the server sends more than 4,096 bytes"):
        file.parts([(0, 4096)])


def test_parts_of_a_file_take_work(server, url, monkeypatch):
    server.part = 4096
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 40)
    file = RemoteFile(f"{url}/parts.tflite")
    with work_budget.work_budget():
        file.parts([(0, 4096)])
        file.parts([(0, 4096)])
        with pytest.raises(LimitError, match="reading a file in a store takes more than"):
            file.parts([(0, 4096)])


def test_pages_that_list_folders(url, monkeypatch):
    assert f"{url}/folder/m.tflite" in models_at(f"{url}/folder/*.tflite")
    monkeypatch.setattr(http_client, "_MOST_BYTES_OF_A_PAGE", 1000)
    with pytest.raises(stores.BundleError, match="the server sends more than 1,000 bytes"):
        models_at(f"{url}/folder/*.tflite")


def test_folders_without_end(url, monkeypatch):
    monkeypatch.setattr(http_client, "_MOST_PAGES", 20)
    with pytest.raises(stores.BundleError, match="the server has more than 20 folders; "):
        models_at(f"{url}/folder/**")
