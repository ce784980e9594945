"""Counts the bytes between a client and a server, in both directions and with all headers."""

from __future__ import annotations

import contextlib
import socket
import threading


class CountedTraffic:
    """Listens on a port of its own, and passes on what comes to the server and what that answers."""

    def __init__(self, port):
        self.bytes = 0
        self._server = ("127.0.0.1", port)
        self._counting = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self):
        self._listener.close()

    def _listen(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                with self._counting:
                    self.bytes += len(piece)
                target.sendall(piece)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
