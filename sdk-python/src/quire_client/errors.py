"""What a call may raise beside the errors of httpx."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import httpx

SHOWN_TEXT = 500
SHOWN_IN_MESSAGE = 120


class QuireError(Exception):
    """What the client raises by itself."""


class ProblemError(QuireError):
    """The service refused the call or failed, and says why (RFC 9457).

    `quire_client.problems` has a class of it for each code.
    """

    problem: Mapping[str, Any]
    _by_code: ClassVar[dict[str, type[ProblemError]]] = {}

    def __init_subclass__(cls, code: str) -> None:
        cls._by_code[code] = cls

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(problem)
        self.problem = problem

    @staticmethod
    def of(problem: Mapping[str, Any]) -> ProblemError:
        """The exception of the problem's code; a plain one for a code of a later release."""
        return ProblemError._by_code.get(problem["code"], ProblemError)(problem)

    def __str__(self) -> str:
        return f"{self.code}: {self.detail or self.problem.get('title')}"

    @property
    def code(self) -> str:
        """The word by which a problem is told from others."""
        return cast(str, self.problem["code"])

    @property
    def status(self) -> int:
        """Of the HTTP answer."""
        return cast(int, self.problem["status"])

    @property
    def detail(self) -> str | None:
        """A sentence for people."""
        detail = self.problem.get("detail")
        return detail if isinstance(detail, str) else None

    @property
    def request_id(self) -> str | None:
        """What the service's log has the request by; None for the problem of an operation."""
        return self.problem.get("request_id")

    @property
    def issues(self) -> list[Any]:
        """What is wrong with a request, one by one: of a `validation_error`, else none."""
        if self.code != "validation_error":
            return []
        # Services before 1.0 list them in `detail`.
        listed = (self.problem.get(name) for name in ("errors", "detail"))
        return next((given for given in listed if isinstance(given, list)), [])


class UnexpectedAnswerError(QuireError):
    """The answer is none of the service's: it comes from something between, such as a proxy."""

    def __init__(self, status: int, text: str, request_id: str | None = None) -> None:
        super().__init__(status, text, request_id)
        self.status = status
        self.text = text
        """At most the first 500 characters."""
        self.request_id = request_id

    def __str__(self) -> str:
        shown = " ".join(self.text.split())[:SHOWN_IN_MESSAGE]
        return f"an answer {self.status} that is not from the service: {shown or 'it is empty'}"


class NoResultError(QuireError):
    """The operation has ended without a result that could be given."""

    def __init__(self, operation: Mapping[str, Any]) -> None:
        super().__init__(operation)
        self.operation = operation

    def __str__(self) -> str:
        name = self.operation["operation_id"]
        if self.operation["status"] == "cancelled":
            return f"{name} was cancelled"
        return f"the result of {name} is no longer kept"


class WaitTimeoutError(QuireError, TimeoutError):
    """What was waited for has not ended in the time that was given; it goes on."""


def error_of(response: httpx.Response) -> QuireError:
    """The error that an answer says, whose body was read."""
    try:
        given = response.json() if "json" in response.headers.get("content-type", "") else None
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict) and isinstance(given.get("code"), str):
        return ProblemError.of({"status": response.status_code, **given})
    return unexpected(response)


def unexpected(response: httpx.Response) -> UnexpectedAnswerError:
    """The error of an answer that the service does not give."""
    location = response.headers.get("location")
    # A service has one address: a redirect says what the client should have been given.
    text = f"it leads to {location}" if response.is_redirect and location else response.text
    return UnexpectedAnswerError(
        response.status_code, text[:SHOWN_TEXT], response.headers.get("x-request-id")
    )


def data_of(response: httpx.Response) -> Any:
    """The data of an answer that succeeded, whose body was read; None where it has none."""
    if response.status_code == httpx.codes.NO_CONTENT:
        return None
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        raise unexpected(response) from None
