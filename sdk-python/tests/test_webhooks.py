from __future__ import annotations

import base64
import secrets
from typing import Any
from unittest import TestCase

from quire_client import WebhookError, verify_webhook

# As the reference library of Standard Webhooks for JavaScript signs it.
SECRET = "whsec_YSBzZWNyZXQgb2YgdGhlIHNwZWNzIG9ubHk="
NOW = 1_772_366_400
MESSAGE = {"type": "operation.ended", "operation_id": "op_1", "note": "Grüße"}
BODY = '{"type":"operation.ended","operation_id":"op_1","note":"Grüße"}'
HEADERS = {
    "webhook-id": "msg_1",
    "webhook-timestamp": str(NOW),
    "webhook-signature": "v1,FjgW1uOiw5QuX7e5kOhbRImUjzhpEgayEtl5b22U2wU=",
}
NO_JSON = {**HEADERS, "webhook-signature": "v1,r798QwpO05E7HwKLDHxDo2qheua0kHMa2H+87AaeFY4="}


def new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}"


class WebhooksTest(TestCase):
    def refused(self, fault: str, body: str = BODY, **given: Any) -> None:
        headers = {**HEADERS, **given.pop("headers", {})}
        key = given.pop("secret", SECRET)
        with self.assertRaises(WebhookError) as caught:
            verify_webhook(body, headers, key, **{"now": NOW, **given})
        self.assertEqual(caught.exception.fault, fault)
        self.assertNotEqual(str(caught.exception), fault)

    def test_gives_the_message_from_headers_of_every_kind(self) -> None:
        upper = {name.upper(): value for name, value in HEADERS.items()}
        lists = {name: [value] for name, value in HEADERS.items()}
        kinds: tuple[dict[str, Any], ...] = (HEADERS, upper, lists)
        for headers in kinds:
            self.assertEqual(verify_webhook(BODY, headers, SECRET, now=NOW), MESSAGE)
        self.assertEqual(verify_webhook(BODY.encode(), HEADERS, SECRET, now=NOW), MESSAGE)

    def test_takes_both_secrets_and_both_signatures_during_a_rotation(self) -> None:
        self.assertEqual(verify_webhook(BODY, HEADERS, [new_secret(), SECRET], now=NOW), MESSAGE)
        both = {**HEADERS, "webhook-signature": f"v1,AAAA {HEADERS['webhook-signature']}"}
        self.assertEqual(verify_webhook(BODY, both, SECRET, now=NOW), MESSAGE)

    def test_refuses_another_body_id_time_or_secret(self) -> None:
        self.refused("wrong_signature", f"{BODY} ")
        self.refused("wrong_signature", secret=new_secret())
        self.refused("wrong_signature", secret=[])
        for headers in (
            {"webhook-id": "msg_2"},
            {"webhook-timestamp": str(NOW + 1)},
            {"webhook-signature": "v1,AAAA v2,AAAA v1,%%% nothing"},
            {"webhook-signature": "v1, " * 10 + HEADERS["webhook-signature"]},
        ):
            self.refused("wrong_signature", headers=headers)

    def test_refuses_what_was_held_back_lies_in_the_future_or_has_no_time(self) -> None:
        self.refused("too_old", now=NOW + 301)
        self.refused("too_new", now=NOW - 301)
        self.refused("too_old", now=None)
        verify_webhook(BODY, HEADERS, SECRET, now=NOW + 301, tolerance_seconds=600)
        for odd in ("yesterday", "1" * 13, "１７７２３６６４００"):
            self.refused("malformed", headers={"webhook-timestamp": odd})

    def test_says_which_header_body_or_secret_is_not_usable(self) -> None:
        for name in HEADERS:
            self.refused("missing_headers", headers={name: ""})
        self.refused("malformed", "no JSON", headers=NO_JSON)
        for bad in ("whsec_", "whsec_%%%", "", "Grüße"):
            self.refused("bad_secret", secret=bad)
