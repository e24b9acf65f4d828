"""Prints each notification of Alertmanager as one line: the path, a space, and the JSON document."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer

PORT = 9095


class Receiver(BaseHTTPRequestHandler):
    """Receives webhooks, whose format is that of the page "Configuration" of Alertmanager, `webhook_config`."""

    def do_POST(self) -> None:
        """Print a notification."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        print(self.path, body.replace("\n", " "), flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing else."""


if __name__ == "__main__":
    HTTPServer(("", PORT), Receiver).serve_forever()
