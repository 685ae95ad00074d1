"""A scoring service: it turns metrics of clusters into scores.

The logic is in score.py, what is asked for in config.json; the rest speaks
the API.
"""

import argparse
import contextlib
import hmac
import json
import math
import os
import signal
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from score import score

MAX_BODY = 32 << 20  # bytes of a request
MAX_PARALLEL = 16  # requests that are scored at a time
CONFIG = Path(__file__).with_name("config.json")


class BadRequest(Exception):
    """What was posted is not what the API takes."""


def score_all(body: bytes) -> dict[str, Any]:
    """Score each series of a request. What is not finite is no sample, and no score.

    A request is the answer of Prometheus to a range query,
    ``{"data": [{"metric": {}, "values": [[time, "value"]]}]}``; data is null
    where there is nothing. Results without a number are left out.
    """
    try:
        data = json.loads(body)["data"] or []
        series = [(labels(one), past(one)) for one in data]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as e:
        raise BadRequest(
            f'the request is not {{"data": [{{"metric": {{}}, "values": []}}]}}: {e!r}'
        ) from e
    results = []
    for metric, samples in series:
        number = score(metric, samples)
        if number is not None and math.isfinite(number):
            results.append({"metric": metric, "score": number})
    return {"results": results}


def labels(series: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in (series.get("metric") or {}).items()}


def past(series: dict[str, Any]) -> list[tuple[float, float]]:
    pairs = [(float(time), float(value)) for time, value in series.get("values") or []]
    return [(time, value) for time, value in pairs if math.isfinite(value)]


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds that a client may be silent
    server: "Server"

    def do_GET(self) -> None:
        if self.path == "/healthz":
            self.answer(200, {"status": "ok"})
        elif self.path == "/config":
            self.answer(200, self.server.config)
        elif self.path == self.server.config["scoring"]["path"]:
            self.answer(405, {"error": "this takes POST"})
        else:
            self.answer(404, {"error": "there is nothing here"})

    def do_POST(self) -> None:
        body = self.body()
        if body is None:
            return
        if self.path != self.server.config["scoring"]["path"]:
            self.answer(404, {"error": "there is nothing here"})
        elif self.authorized():
            try:
                with self.server.turns:
                    answer = score_all(body)
            except BadRequest as e:
                self.answer(400, {"error": str(e)})
            except Exception as e:
                traceback.print_exc()
                self.answer(500, {"error": repr(e)})
            else:
                self.answer(200, answer)

    def body(self) -> bytes | None:
        """Read what was posted, or refuse it."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            self.answer(411, {"error": "the request needs a Content-Length"})
        elif int(length) > MAX_BODY:
            self.close_connection = True
            self.answer(413, {"error": f"the request is larger than {MAX_BODY} bytes"})
        else:
            return self.rfile.read(int(length))
        return None

    def authorized(self) -> bool:
        """Compare the token with the file's, which may be replaced at any time."""
        file = self.server.token_file
        if file is None:
            return True
        try:
            want = file.read_bytes().strip()
        except OSError:
            self.answer(503, {"error": "the token cannot be read here"})
            return False
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        same = hmac.compare_digest(given.encode("latin-1"), want)
        if scheme == "Bearer" and want and same:
            return True
        self.answer(401, {"error": "this needs the right bearer token"})
        return False

    def answer(self, status: int, value: Any) -> None:
        text = json.dumps(value, allow_nan=False).encode()
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: Any) -> None:
        """Say nothing of each request."""


class Server(ThreadingHTTPServer):
    """Listens; each connection has a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], token_file: Path | None) -> None:
        self.config = json.loads(CONFIG.read_text())
        self.token_file = token_file
        self.turns = threading.BoundedSemaphore(MAX_PARALLEL)
        super().__init__(address, Handler)


def main() -> None:
    flags = argparse.ArgumentParser(description="A scoring service.")
    flags.add_argument("--listen", default=":8000", help="HOST:PORT to listen on")
    flags.add_argument(
        "--token-file",
        default=os.environ.get("TOKEN_FILE"),
        help="file with the bearer token that callers need (default $TOKEN_FILE; empty: none)",
    )
    options = flags.parse_args()
    host, _, port = options.listen.rpartition(":")
    token_file = Path(options.token_file) if options.token_file else None
    server = Server((host, int(port)), token_file)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print(f"ready http://{host or '0.0.0.0'}:{server.server_port}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
