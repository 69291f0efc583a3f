"""Requests, and what follows their answers: all that is known without sending anything."""

from __future__ import annotations

import json
import math
import random
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypedDict
from urllib.parse import quote, urlencode

import httpx

from . import models
from ._files import Document
from .errors import WaitTimeoutError

class UploadOptions(TypedDict, total=False):
    """What is said of a file beside its bytes; what is left out is taken from the file."""

    tenant_id: str
    file_name: str
    content_type: str
    kind: Literal["document", "dataset"]
    project_id: str
    task_id: str


class BatchResult(TypedDict):
    """What became of one document of a batch."""

    index: int
    """Its place in the request, from 0."""
    file_uri: str
    document_id: str | None
    """None, as the next is, for a document that could not be begun."""
    operation_id: str | None
    status: Literal["queued", "running", "succeeded", "partial", "failed", "cancelled"]
    result: dict[str, Any] | None
    error: models.OperationError | None
    cost: models.OperationCost | None


GOES_ON = ("queued", "running", "cancelling")
"""How operations and batches stand that have not ended."""

TIMEOUT = 600.0
CONNECT_TIMEOUT = 10.0


@dataclass(frozen=True)
class Patience:
    """How long a call goes on trying."""

    attempts: int = 5
    """How often a request is sent at most."""
    first_pause: float = 0.5
    """Seconds of the first pause where the service names none; each further is twice as long."""
    longest_pause: float = 60.0
    """A service that asks for a longer pause than this, in seconds, is not waited for."""


@dataclass(frozen=True)
class Connection:
    """Where calls go and as whom."""

    url: str
    key: str
    patience: Patience
    timeout: float


def key_of(given: str | None) -> str:
    """The `Idempotency-Key` of a call: the caller's, or one of its own."""
    return str(uuid.uuid4()) if given is None else given


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items() if value is not None}


def _asked(values: Mapping[str, object]) -> dict[str, str]:
    """Parameters of a query: each member of a mapping is `name[member]`."""
    flat: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}[{member}]": one for member, one in value.items()})
        else:
            flat[name] = value
    return _texts(flat)


def _part(name: str, value: Any) -> tuple[str | None, bytes]:
    if name == "file":
        document = Document.of(value)
        return document.name, document.read()
    return None, _text(value).encode()


@dataclass(frozen=True)
class Call:
    """One call with all that goes into it; `path` is a pattern of the address and what fills it."""

    method: str
    pattern: str
    path: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, object] = field(default_factory=dict)
    body: Any = None
    is_form: bool = False
    key: str | None = None
    """Its `Idempotency-Key`, where it takes one."""
    timeout: float | None = None

    @property
    def is_repeatable(self) -> bool:
        """Doing it twice is the same as doing it once."""
        return self.method != "POST" or self.key is not None

    def url(self, base: str) -> str:
        """Its address at a service."""
        parts = {name: quote(_text(value), safe="") for name, value in self.path.items()}
        query = urlencode(_asked(self.query))
        return f"{base}{self.pattern.format_map(parts)}{'?' if query else ''}{query}"

    def beginning_at(self, offset: int) -> Call:
        """The same call for another page of its list."""
        return replace(self, query={**self.query, "offset": offset})

    def request(self, connection: Connection) -> dict[str, Any]:
        """What httpx makes a request of."""
        headers = {"accept": "application/json", "x-api-key": connection.key}
        headers.update(_texts(self.headers))
        if self.key is not None:
            headers["idempotency-key"] = self.key
        made: dict[str, Any] = {
            "method": self.method,
            "url": self.url(connection.url),
            "headers": headers,
            "timeout": timeout_of(self.timeout or connection.timeout),
        }
        if self.is_form:
            given = {name: value for name, value in self.body.items() if value is not None}
            # Fields as files without a name: a form without a file is still a form with parts.
            made["files"] = {name: _part(name, value) for name, value in given.items()}
        elif self.body is not None:
            headers["content-type"] = "application/json"
            made["content"] = json.dumps(self.body).encode()
        return made


def timeout_of(seconds: float) -> httpx.Timeout:
    """How long one try may be silent; an address that answers nothing is given up earlier."""
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_TIMEOUT))


AWAY = (502, 503, 504)
"""What a proxy answers while the service behind it is away."""

UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""The request has not left: sending it again is sending it for the first time."""

PAUSES_MAX = 4
"""From here on pauses grow no longer: 4 seconds."""

TRIES_MAX = 300
"""A request that still runs is asked after for about ten minutes."""


class Tries:
    """The tries of one request: after each, the seconds until the next, or None: it stands."""

    def __init__(self, patience: Patience, is_repeatable: bool) -> None:
        self._patience = patience
        self._is_repeatable = is_repeatable
        self._sent = 0
        self._failures = 0

    def after(self, response: httpx.Response) -> float | None:
        """Of an answer, whose body was read unless it succeeded."""
        own = self._own_pause()
        if response.is_success:
            return None
        if self._is_repeatable and response.status_code == 409:
            # The first request still runs, whose answer was lost on its way.
            if b'"request_in_progress"' in response.content:
                return own if self._sent < TRIES_MAX else None
        asked = asked_pause(response)
        if asked is not None:
            # It was refused before it was begun: any request may follow.
            return self._failed(asked)
        is_problem = "problem+json" in response.headers.get("content-type", "")
        is_of_proxy = response.status_code in AWAY and not is_problem
        return self._failed(own) if is_of_proxy and self._is_repeatable else None

    def after_loss(self, error: httpx.TransportError) -> float | None:
        """Of a try that has no answer."""
        own = self._own_pause()
        return self._failed(own) if self._is_repeatable or isinstance(error, UNSENT) else None

    def _own_pause(self) -> float:
        """Twice as long each time, and never the same for two callers that failed together."""
        self._sent += 1
        doubled: float = self._patience.first_pause * 2 ** (min(self._sent, PAUSES_MAX) - 1)
        return min(self._patience.longest_pause, doubled) * random.uniform(0.5, 1)

    def _failed(self, pause: float) -> float | None:
        self._failures += 1
        is_last = self._failures >= self._patience.attempts
        return None if is_last or pause > self._patience.longest_pause else pause


def asked_pause(response: httpx.Response) -> float | None:
    """Seconds that an answer asks to wait: `Retry-After` in seconds or as a date."""
    asked: str | None = response.headers.get("retry-after")
    if asked is None:
        return None
    if re.fullmatch("[0-9]+", asked):
        return float(asked)
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    except (ValueError, OverflowError):  # no date, or one of a year that no calendar has
        return None


def looks(timeout: float | None) -> Iterator[float]:
    """Seconds between looks at what goes on: 0.25 to 5; raises `WaitTimeoutError` at their end."""
    pause, ends = 0.25, math.inf if timeout is None else time.monotonic() + timeout
    while (left := ends - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(5.0, pause * 1.5)
    raise WaitTimeoutError(f"it has not ended in {timeout} seconds")


class Lines:
    """Lines of a stream as they arrive; of the stream no more than one part is kept."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def of(self, part: bytes) -> list[Any]:
        """The values of the lines that end in the part; the last is ended by a line feed."""
        first, *others = part.split(b"\n")
        self._begun.append(first)
        if not others:
            return []
        lines = [b"".join(self._begun), *others[:-1]]
        self._begun = others[-1:]
        return [json.loads(line) for line in lines if line]

    def is_cut(self) -> bool:
        """Whether the last line has not ended."""
        return any(self._begun)
