"""python3 -m unittest"""

import http.client
import json
import tempfile
import threading
import unittest
from pathlib import Path

from score import score
from server import MAX_BODY, Server


class Score(unittest.TestCase):
    def test_score(self) -> None:
        for name, values, want in (
            ("no past", [], None),
            ("idle", [0, 0], 100),
            ("busy", [1], 0),
            ("the average", [0.25, 0.75], 50),
            ("only the newest", [1, 1, 1, 0, 0, 0, 0, 0], 100),
            ("more than there is", [7], 0),
            ("less than there can", [-1], 100),
        ):
            with self.subTest(name):
                self.assertEqual(score({}, list(enumerate(values))), want)


class Service(unittest.TestCase):
    def start(self, token_file: Path | None = None) -> None:
        server = Server(("127.0.0.1", 0), token_file)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.port = server.server_port

    def call(
        self, method: str, path: str, body: bytes | None = None, token: str | None = None
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.addCleanup(connection.close)
        connection.request(
            method, path, body, {"Authorization": f"Bearer {token}"} if token else {}
        )
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_scoring(self) -> None:
        self.start()
        for name, body, status, want in (
            (
                "one series",
                '{"data":[{"metric":{"node":"a"},"values":[[1,"0.25"],[2,"0.75"]]}]}',
                200,
                [{"metric": {"node": "a"}, "score": 50}],
            ),
            (
                "numbers",
                '{"data":[{"metric":{},"values":[[1,0.25]]}]}',
                200,
                [{"metric": {}, "score": 75}],
            ),
            ("no labels", '{"data":[{"values":[[1,"0"]]}]}', 200, [{"metric": {}, "score": 100}]),
            ("no values", '{"data":[{"metric":{"node":"a"},"values":[]}]}', 200, []),
            (
                "not finite",
                '{"data":[{"metric":{},"values":[[1,"NaN"],[2,"+Inf"],[3,"0.5"]]}]}',
                200,
                [{"metric": {}, "score": 50}],
            ),
            ("only NaN", '{"data":[{"metric":{},"values":[[1,"NaN"]]}]}', 200, []),
            ("empty", '{"data":[]}', 200, []),
            ("null", '{"data":null}', 200, []),
            ("no JSON", '{"data":', 400, None),
            ("other JSON", "[]", 400, None),
            ("not numbers", '{"data":[{"metric":{},"values":[["a","b"]]}]}', 400, None),
            ("no pairs", '{"data":[{"metric":{},"values":[[1]]}]}', 400, None),
            ("value null", '{"data":[{"metric":{},"values":[[1,null]]}]}', 400, None),
            ("no series", '{"data":[1]}', 400, None),
        ):
            with self.subTest(name):
                got, text = self.call("POST", "/scoring", body.encode())
                self.assertEqual(got, status, text)
                if want is not None:
                    self.assertEqual(json.loads(text), {"results": want})
                else:
                    self.assertIn("error", json.loads(text))

    def test_far_too_much(self) -> None:
        self.start()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.addCleanup(connection.close)
        connection.putrequest("POST", "/scoring")
        connection.putheader("Content-Length", str(MAX_BODY + 1))
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 413)

    def test_config_and_health(self) -> None:
        self.start(Path("/no/token"))
        self.assertEqual(self.call("GET", "/healthz"), (200, '{"status": "ok"}'))
        status, text = self.call("GET", "/config")
        self.assertEqual(status, 200)
        self.assertTrue(json.loads(text)["scoring"]["params"]["name"])
        self.assertEqual(self.call("GET", "/scoring")[0], 405)
        self.assertEqual(self.call("GET", "/elsewhere")[0], 404)
        self.assertEqual(self.call("POST", "/elsewhere", b"{}")[0], 404)

    def test_token(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "token"
            self.start(file)

            def status(token: str | None) -> int:
                return self.call("POST", "/scoring", b'{"data":null}', token)[0]

            self.assertEqual(status("secret"), 503)  # no file: nobody gets in
            file.write_text("\n")
            self.assertEqual(status(None), 401)
            file.write_text("secret\n")
            self.assertEqual(status("secret"), 200)
            self.assertEqual(status("secre"), 401)
            self.assertEqual(status(None), 401)
            file.write_text("another\n")  # as a Secret that rotates
            self.assertEqual(status("secret"), 401)
            self.assertEqual(status("another"), 200)


if __name__ == "__main__":
    unittest.main()
