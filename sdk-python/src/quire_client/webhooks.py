"""Webhooks by Standard Webhooks: https://www.standardwebhooks.com."""

from __future__ import annotations

import base64
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from .errors import QuireError
from .models import WebhookMessage

WebhookFault = Literal[
    "missing_headers", "malformed", "too_old", "too_new", "wrong_signature", "bad_secret"
]

SENTENCES: dict[WebhookFault, str] = {
    "missing_headers": "webhook-id, webhook-timestamp or webhook-signature is missing",
    "malformed": "the timestamp is no number, or the body is no JSON",
    "too_old": "the message was signed too long ago",
    "too_new": "the message was signed in the future",
    "wrong_signature": "no signature is by a secret that was given",
    "bad_secret": "a secret is whsec_ and base64",
}

VERSION = "v1,"
PREFIX = "whsec_"
SIGNATURES_MAX = 10
"""A header with more signatures than a rotation needs is not read to its end."""


class WebhookError(QuireError):
    """The message is not from the service, or was changed or held back on its way."""

    def __init__(self, fault: WebhookFault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return SENTENCES[self.fault]


def _header(headers: Mapping[str, Any], name: str) -> str:
    given = next((value for key, value in headers.items() if key.lower() == name), "")
    return given if isinstance(given, str) else str(next(iter(given), ""))


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


def _secret(text: str) -> bytes:
    secret = _from_base64(text.removeprefix(PREFIX))
    if not secret:
        raise WebhookError("bad_secret")
    return secret


def _check_time(timestamp: str, tolerance_seconds: float, now: float) -> None:
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookError("malformed")
    age = now - int(timestamp)
    if age > tolerance_seconds:
        raise WebhookError("too_old")
    if -age > tolerance_seconds:
        raise WebhookError("too_new")


def verify_webhook(
    body: str | bytes,
    headers: Mapping[str, Any],
    secrets: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> WebhookMessage:
    """The message of a webhook, once its signature and its age are found right.

    `body` is the body as it came, not parsed. During a rotation give both secrets. `now` is a
    time of the clock in seconds. Raises `WebhookError` where anything is wrong.
    """
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, timestamp, signature = (_header(headers, name) for name in names)
    if not message_id or not timestamp or not signature:
        raise WebhookError("missing_headers")
    _check_time(timestamp, tolerance_seconds, time.time() if now is None else now)
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + raw
    given = [
        _from_base64(part.removeprefix(VERSION))
        for part in signature.split(" ")[:SIGNATURES_MAX]
        if part.startswith(VERSION)
    ]
    keys = [_secret(text) for text in ([secrets] if isinstance(secrets, str) else secrets)]
    made = [hmac.digest(key, signed, "sha256") for key in keys]
    if not any(hmac.compare_digest(one, other) for one in made for other in given):
        raise WebhookError("wrong_signature")
    try:
        return cast(WebhookMessage, json.loads(raw))
    except ValueError:
        raise WebhookError("malformed") from None
