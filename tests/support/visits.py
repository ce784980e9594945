"""Visits of the browser application."""

from __future__ import annotations

import re


class Visit:
    """A page of the application, and what went wrong in it."""

    def __init__(self, context, address):
        self.context, self.address, self.wrong, self.outside = context, address, [], []
        self.page = context.new_page()
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.wrong.append("dialog"), dialog.dismiss()))
        # While anybody listens, no dialog of the system opens, in which the page would wait.
        self.page.on("filechooser", lambda _: None)
        context.on("request", self._watch)

    def _note(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def _watch(self, request):
        if not request.url.startswith((self.address, f"blob:{self.address}", "data:")):
            self.outside.append(request.url)

    @property
    def worker(self):
        """The worker that runs: a replaced one, which stands before it, may still be ending."""
        return self.page.workers[-1]

    def start(self, fragment=""):
        self.page.goto(self.address + fragment)
        self.page.wait_for_selector("body.ready", timeout=90_000)
        return self

    def choose(self, *files):
        self.page.set_input_files("#files", files)

    def drop(self, *files):
        """Drop files, each (name, bytes), onto the page."""
        self.page.evaluate(
            """files => {
              const dataTransfer = new DataTransfer();
              for (const [name, bytes] of files) dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
              const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
              document.getElementById('drop').dispatchEvent(event);
            }""",
            [[name, list(content)] for name, content in files],
        )

    def idle(self):
        """Wait until the worker has nothing to do."""
        # The policy of the page allows no waiting for a function, which would be evaluated as text.
        self.page.locator("#doing").filter(has_text=re.compile("^Ready$")).wait_for(timeout=90_000)
        return self

    def clear(self):
        """Remove all files."""
        while self.page.locator(".close").count():
            self.page.locator(".close").first.click()
        self.page.wait_for_selector("#models", state="hidden")

    def reset(self):
        """Remove all files, and choose the default target again."""
        self.clear()
        self.page.evaluate(
            """values => {
              for (const [id, value] of Object.entries(values)) {
                const element = document.getElementById(id);
                element.value = value;
                element.dispatchEvent(new Event('change'));
              }
            }""",
            {"release": "litert-2.3", "defaults": "benchmark", "android": "13", "delegate": "nnapi"},
        )

    def report(self):
        """Return the report in its frame, once it is there."""
        self.page.wait_for_selector("#panel iframe", timeout=90_000)
        frame = self.page.query_selector("#panel iframe").content_frame()
        frame.wait_for_selector(".headline")
        return frame
