"""Nothing leaves the browser application, and it works without a network."""

from __future__ import annotations

import pytest

from tests.support.pages import MODELS
from tools.docs.web import served

pytestmark = pytest.mark.slow

ATTEMPTS = {
    "fetch": "address => fetch(address, { mode: 'no-cors' })",
    "a request": """address => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', address);
      request.onload = resolve;
      request.onerror = () => reject(new Error('refused'));
      request.send('secret');
    })""",
    "a socket": """address => new Promise((resolve, reject) => {
      const socket = new WebSocket(address.replace('http', 'ws'));
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error('refused'));
    })""",
    "a module": "address => import(address)",
    "Python's fetch": "async address => { await pyodide.runPythonAsync(`import js; await js.fetch('${address}')`); }",
    "Python's request": """async address => pyodide.runPython(
      `import js; request = js.XMLHttpRequest.new(); request.open('GET', '${address}', False); request.send()`)""",
    "Python's urllib": "async address => pyodide.runPython(`import urllib.request; urllib.request.urlopen('${address}')`)",
}


def tries(place, address, *names):
    """Return which attempts to reach an address succeeded in a page, a frame or a worker."""
    expression = "async address => { try { await (%s)(address); return true; } catch { return false; } }"
    return [name for name in names or ATTEMPTS if place.evaluate(expression % ATTEMPTS[name], address)]


def requests_since(before, host):
    """Return the requests to the page's server, but for those with which a browser looks for a newer service worker."""
    return [path for path in host[1][before:] if path != "/service-worker.js"]


def test_no_request_leaves_the_page_and_it_works_without_a_network(visit, host, tmp_path):
    (tmp_path / "x.js").write_text("export {};", encoding="utf-8")
    opened = visit().start()
    page = opened.page
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    before = len(host[1])
    opened.choose(MODELS / "transformer_block.tflite")
    opened.idle()
    page.get_by_role("button", name="GPU", exact=True).click()
    opened.idle()
    frame = opened.report()
    assert requests_since(before, host) == []
    assert opened.outside == []
    assert opened.wrong == []

    with served(tmp_path) as (outside, reached):
        worker = opened.worker
        assert tries(worker, f"{outside}x.js") == []
        assert tries(page, f"{outside}x.js", "fetch", "a request", "a socket", "a module") == []
        assert tries(frame, f"{outside}x.js", "fetch", "a request", "a socket", "a module") == []
        frame.evaluate("address => { location = address; }", f"{outside}x.js")
        page.evaluate("address => { new Image().src = address; navigator.sendBeacon(address, 'secret'); }", f"{outside}x.js")
        page.wait_for_timeout(300)
        assert reached == []

    # The page's own server is there, but its service worker answers only for the files of the page.
    opened.start()
    before = len(host[1])
    assert tries(opened.worker, f"{host[0]}stolen?secret") == []
    opened.context.set_offline(True)
    opened.start()
    opened.choose(MODELS / "mobilenet_block.tflite")
    opened.idle()
    assert "93.3 %" in page.inner_text("#headline")
    assert requests_since(before, host) == []
