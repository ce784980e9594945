"""Models in remote stores: what is read of them, and that verdicts are the same."""

from __future__ import annotations

import http.server
import os
import re
import threading

import pytest

import delegate_sim
from delegate_sim.bundles.model_files import files_for
from delegate_sim.bundles.stores import RemoteFile
from delegate_sim.errors import ModelError
from delegate_sim.model.reader import remote_content
from fixtures.builder import ModelBuilder
from tests.support.remote.models import MIB, heavy_model

fsspec = pytest.importorskip("fsspec", reason="remote stores need fsspec")


@pytest.fixture
def memory():
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield store
    store.store.clear()


@pytest.mark.parametrize("behind", [False, True])
def test_weights_are_not_read(memory, behind):
    content = heavy_model(behind=behind).bytes()
    memory.pipe("/zoo/heavy.tflite", content)
    found = remote_content(RemoteFile("memory://zoo/heavy.tflite"))
    assert len(found.content) == len(content) > 8 * MIB
    assert found.read < len(content) // 50
    local, remote = (
        delegate_sim.analyze(content, "nnapi", defaults="api"),
        delegate_sim.analyze("memory://zoo/heavy.tflite", "nnapi", defaults="api"),
    )
    same = [report.to_dict()["runs"] for report in (local, remote)]
    assert same[0] == same[1]
    assert remote.to_dict()["model"]["sha256"] == found.digest != local.to_dict()["model"]["sha256"]


def test_a_small_model_is_read_whole(memory):
    content = ModelBuilder()
    graph = content.subgraph("main")
    graph.node("ABS", [graph.input("x", "FLOAT32", (1,))], [graph.tensor("y", "FLOAT32", (1,))], options={})
    memory.pipe("/m.tflite", content.bytes())
    assert delegate_sim.load("memory://m.tflite").sha256 == delegate_sim.load(content.bytes()).sha256


def test_folders_and_patterns(memory):
    for name in ("/zoo/a.tflite", "/zoo/deep/b.tflite", "/zoo/read.me"):
        memory.pipe(name, heavy_model().bytes())
    assert files_for("memory://zoo") == ["memory:///zoo/a.tflite", "memory:///zoo/deep/b.tflite"]
    assert files_for("memory://zoo/*.tflite") == ["memory:///zoo/a.tflite"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://nowhere.tflite", "memory://nowhere.tflite: cannot be read: "),
        ("nostore://bucket/m.tflite", "nostore://bucket/m.tflite: cannot be read: Protocol not known"),
    ],
)
def test_what_cannot_be_read_is_one_line(memory, url, message):
    with pytest.raises(ModelError) as raised:
        delegate_sim.load(url)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_remote_file_that_is_no_model(memory):
    memory.pipe("/page.tflite", b"<html>" * 50_000)
    with pytest.raises(ModelError, match=r"page\.tflite: is not a TFLite model"):
        delegate_sim.load("memory://page.tflite")


def test_a_remote_file_that_lies(memory):
    content = bytearray(heavy_model().bytes())
    content[:4] = b"\xff\xff\xff\x7f"
    memory.pipe("/m.tflite", bytes(content))
    with pytest.raises(ModelError, match=r"m\.tflite: is truncated or malformed"):
        delegate_sim.load("memory://m.tflite")


class _Counted(http.server.BaseHTTPRequestHandler):
    """Answers ranges of one file, and counts what it sends."""

    path_of_file = ""
    has_ranges = True
    sent = 0

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, with_body):
        size = os.path.getsize(self.path_of_file)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        start, end = 0, size
        if asked and self.has_ranges:
            start, end = int(asked[1]), min(int(asked[2]) + 1, size)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        else:
            self.send_response(200)
        if self.has_ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        if with_body:
            with open(self.path_of_file, "rb") as file:
                file.seek(start)
                self.wfile.write(file.read(end - start))
            type(self).sent += end - start

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    pytest.importorskip("aiohttp", reason="fsspec reads over HTTP through aiohttp")
    handler = type("Handler", (_Counted,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield handler, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def test_three_gibibytes_cost_less_than_five_mebibytes(server, tmp_path):
    """The file is sparse, so that it takes no room."""
    handler, url = server
    size = (3 << 30) + MIB
    path = tmp_path / "llm.tflite"
    heavy_model(units=3 << 16, behind=True).write_sparse(path, size)
    handler.path_of_file = str(path)
    report = delegate_sim.analyze(f"{url}/llm.tflite", "nnapi", defaults="api")
    assert report.model.size == size
    assert report.runs[0].outcome == "delegated"
    assert handler.sent <= 5 * MIB


def test_a_server_without_ranges_gives_everything(server, tmp_path):
    handler, url = server
    handler.has_ranges = False
    path = tmp_path / "m.tflite"
    path.write_bytes(heavy_model().bytes())
    handler.path_of_file = str(path)
    model = delegate_sim.load(f"{url}/m.tflite")
    assert model.sha256 == delegate_sim.load(path).sha256
