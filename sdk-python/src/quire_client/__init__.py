"""The Python client of a Quire service."""

from . import models, problems
from ._async.client import AsyncQuire
from ._files import File
from ._sync.client import Quire
from ._wire import BatchResult, Patience, UploadOptions
from .errors import (
    NoResultError,
    ProblemError,
    QuireError,
    UnexpectedAnswerError,
    WaitTimeoutError,
)
from .webhooks import WebhookError, verify_webhook

__all__ = [
    "AsyncQuire",
    "BatchResult",
    "File",
    "NoResultError",
    "Patience",
    "ProblemError",
    "Quire",
    "QuireError",
    "UnexpectedAnswerError",
    "UploadOptions",
    "WaitTimeoutError",
    "WebhookError",
    "models",
    "problems",
    "verify_webhook",
]
