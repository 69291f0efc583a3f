from __future__ import annotations

import json
from io import BytesIO, StringIO
from typing import Any
from unittest import TestCase

import httpx

from quire_client._files import Document
from quire_client._wire import Call, Connection, Lines, Patience, Tries, asked_pause, looks
from quire_client.errors import UnexpectedAnswerError, WaitTimeoutError, data_of, error_of

CONNECTION = Connection("http://service", "key", Patience(), 600)


class WireTest(TestCase):
    def test_fills_and_quotes_the_address_and_leaves_out_what_is_not_given(self) -> None:
        call = Call("GET", "/v1/{name}/x", path={"name": "a/b:c é"}, query={"a": None, "b": True})
        url = "http://service/v1/a%2Fb%3Ac%20%C3%A9/x?b=true"
        self.assertEqual(call.url("http://service"), url)
        self.assertEqual(Call("GET", "/v1").url("http://service"), "http://service/v1")

    def test_writes_each_member_of_a_filter_as_a_parameter(self) -> None:
        call = Call("GET", "/v1", query={"filter": {"status": "queued", "pages": 2}, "limit": 1})
        url = "http://service/v1?filter%5Bstatus%5D=queued&filter%5Bpages%5D=2&limit=1"
        self.assertEqual(call.url("http://service"), url)

    def test_makes_a_form_of_parts_also_without_a_file(self) -> None:
        call = Call("POST", "/v1", body={"schema": {"a": 1}, "mode": None}, is_form=True, key="k")
        made = httpx.Client().build_request(**call.request(CONNECTION))
        self.assertRegex(made.headers["content-type"], "^multipart/form-data; boundary=")
        text = made.read().decode()
        self.assertIn('name="schema"\r\n\r\n{"a": 1}\r\n', text)
        self.assertNotIn("mode", text)

    def test_gives_the_values_of_lines_however_they_are_cut(self) -> None:
        values = [{"text": "a\u2028b\x0b é"}, [], {"n": 1}]
        texts = (json.dumps(value, ensure_ascii=False) + "\n" for value in values)
        stream = "".join(texts).encode()
        for size in range(1, len(stream) + 1):
            lines = Lines()
            parts = [stream[at : at + size] for at in range(0, len(stream), size)]
            self.assertEqual([value for part in parts for value in lines.of(part)], values)

    def test_sends_bytes_and_no_text_whose_characters_it_would_have_to_guess(self) -> None:
        self.assertEqual(Document.of(BytesIO(b"a")).read(), b"a")
        text: Any = StringIO("README.md")
        with self.assertRaisesRegex(TypeError, "mode 'rb'"):
            Document.of(text)

    def test_tells_what_came_instead_of_an_answer_of_the_service(self) -> None:
        page = httpx.Response(502, headers={"content-type": "text/html"}, text="<h1>Bad\n gateway")
        self.assertIn("502", str(error_of(page)))
        self.assertIn("<h1>Bad gateway", str(error_of(page)))
        moved = httpx.Response(308, headers={"location": "https://service/v1"})
        self.assertIn("it leads to https://service/v1", str(error_of(moved)))
        self.assertIn("it is empty", str(error_of(httpx.Response(404))))
        json_of_a_proxy = {"content-type": "application/json"}
        for body in ("[" * 200_000, '{"code": 7}', "[]", '{"code": "busy"', "\xff"):
            answer = httpx.Response(500, headers=json_of_a_proxy, content=body.encode("latin-1"))
            self.assertIsInstance(error_of(answer), UnexpectedAnswerError)
        with self.assertRaises(UnexpectedAnswerError):
            data_of(httpx.Response(200, text='{"total": 1'))

    def test_reads_the_pause_that_is_asked_for(self) -> None:
        asked = (
            ("7", 7.0),
            ("9" * 400, float("inf")),
            ("soon", None),
            ("-1", None),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
            (f"Thu, 01 Jan {'9' * 30} 00:00:00 GMT", None),
        )
        for given, seconds in asked:
            answer = httpx.Response(503, headers={"retry-after": given})
            self.assertEqual(asked_pause(answer), seconds)
        self.assertIsNone(asked_pause(httpx.Response(503)))

    def test_sends_again_what_has_not_left_even_if_it_may_not_be_done_twice(self) -> None:
        tries = Tries(Patience(first_pause=1, attempts=3), is_repeatable=False)
        self.assertIsNone(tries.after_loss(httpx.ReadError("")))
        first, second = (tries.after_loss(httpx.ConnectError("")) for _ in range(2))
        self.assertTrue(first and 1 <= first <= 2)
        self.assertTrue(second and 2 <= second <= 4)
        self.assertIsNone(tries.after_loss(httpx.ConnectError("")))

    def test_ends_to_ask_after_a_request_that_runs_for_ever(self) -> None:
        tries = Tries(Patience(first_pause=0), is_repeatable=True)
        running = httpx.Response(409, content=b'{"code":"request_in_progress"}')
        pauses = [tries.after(running) for _ in range(300)]
        self.assertEqual((pauses[298], pauses[299]), (0, None))

    def test_looks_less_and_less_often_until_the_time_is_over(self) -> None:
        pauses = looks(None)
        first = [next(pauses) for _ in range(12)]
        self.assertEqual((first[0], first[1], first[-1]), (0.25, 0.375, 5.0))
        self.assertLessEqual(next(looks(0.1)), 0.1)
        with self.assertRaises(WaitTimeoutError):
            next(looks(0))
