"""The client, and what goes on after a call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, cast

import httpx

from .. import models
from .._files import Document, File
from .._wire import (
    TIMEOUT,
    BatchResult,
    Call,
    Connection,
    Patience,
    UploadOptions,
    timeout_of,
)
from ..errors import NoResultError, ProblemError
from .api import AsyncApi, AsyncLists
from .sending import AsyncSender

if TYPE_CHECKING:
    from typing_extensions import Unpack

LATER = "respond-async"


class AsyncPart:
    """What of the client does more than a call."""

    def __init__(self, api: AsyncApi, sender: AsyncSender, tenant: str | None) -> None:
        self._api = api
        self._sender = sender
        self._tenant = tenant


class AsyncOperations(AsyncPart):
    """Work that goes on after the call that began it."""

    async def wait(
        self,
        operation: str | models.Operation,
        *,
        timeout: float | None = None,
        on_progress: Callable[[models.Operation], None] | None = None,
    ) -> models.Operation:
        """The operation once it has ended, in whichever way.

        It is asked for from four times a second to once in 5 seconds, for `timeout` seconds;
        `on_progress` is called with each state that is read, the last one too.
        """
        operation_id = operation if isinstance(operation, str) else operation["operation_id"]
        call = Call("GET", "/v1/operations/{operation_id}", path={"operation_id": operation_id})
        state = await self._sender.until(call, timeout, on_progress)
        return cast(models.Operation, state)

    async def result(
        self,
        operation: str | models.Operation,
        *,
        timeout: float | None = None,
        on_progress: Callable[[models.Operation], None] | None = None,
    ) -> dict[str, Any]:
        """What the call would have answered that waits.

        Raises the problem that it would have answered, or `NoResultError` where the operation
        was cancelled or its result is no longer kept.
        """
        ended = await self.wait(operation, timeout=timeout, on_progress=on_progress)
        if ended["error"] is not None:
            raise ProblemError.of(ended["error"])
        if ended["result"] is None:
            raise NoResultError(ended)
        return ended["result"]

    async def cancel(self, operation_id: str) -> models.CancelledOperation:
        """Cancels an operation that has not ended."""
        return await self._api.cancel_operation(operation_id)


class AsyncBatches(AsyncPart):
    """Many documents with one schema."""

    async def wait(
        self,
        batch: str | models.Batch,
        *,
        timeout: float | None = None,
        on_progress: Callable[[models.Batch], None] | None = None,
    ) -> models.Batch:
        """The batch once every document has its outcome."""
        batch_id = batch if isinstance(batch, str) else batch["batch_id"]
        call = Call("GET", "/v1/batches/{batch_id}", path={"batch_id": batch_id})
        state = await self._sender.until(call, timeout, on_progress)
        return cast(models.Batch, state)

    def results(self, batch: str | models.Batch) -> AsyncIterator[BatchResult]:
        """What became of each document, in the order of the request, as it arrives."""
        batch_id = batch if isinstance(batch, str) else batch["batch_id"]
        path = {"batch_id": batch_id}
        return self._sender.lines(Call("GET", "/v1/batches/{batch_id}/results", path=path))


class AsyncUploads(AsyncPart):
    """Files that are sent before the calls that use them."""

    async def send(
        self,
        file: File,
        *,
        on_progress: Callable[[int, int], None] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **options: Unpack[UploadOptions],
    ) -> models.PresignUploadResponse:
        """Asks for a place, sends the file there, and gives its names.

        `on_progress` is called with the bytes that were sent and all bytes; from 0 again where
        the file has to be sent again. The same key gives the same place for an hour.
        """
        document = Document.of(file)
        tenant_id = options.get("tenant_id", self._tenant)
        if tenant_id is None:
            raise TypeError("An upload needs a tenant: Quire(..., tenant=...).")
        described = {"file_name": document.name, "bytes": document.size}
        place = await self._api.presign_upload(
            cast(models.PresignUploadRequest, {**described, **options, "tenant_id": tenant_id}),
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

        async def parts() -> AsyncIterator[bytes]:
            sent = 0
            for part in document.parts():
                yield part
                sent += len(part)
                if on_progress is not None:
                    on_progress(sent, document.size)

        # With its length: a store such as S3 takes no file of unknown length.
        headers = {**place["headers"], "content-length": str(document.size)}
        seconds = timeout_of(timeout or self._sender.connection.timeout)
        put = Call("PUT", place["upload_url"])
        await self._sender.answer(
            lambda: self._sender.http.build_request(
                put.method, put.pattern, content=parts(), headers=headers, timeout=seconds
            ),
            put,
        )
        return place

    async def remove(self, document_id: str) -> None:
        """Removes an upload, so that its bytes no longer count."""
        await self._api.remove_upload(document_id)


class AsyncQuire:
    """A Quire service, as one key sees it."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        tenant: str | None = None,
        timeout: float = TIMEOUT,
        patience: Patience = Patience(),
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """Connects to nothing yet.

        `tenant` is whom documents are read for; a tenant's key needs it only for uploads.
        `timeout` is how many seconds one try of a call may be silent. `http` is used instead of
        a client of its own, and left open.
        """
        self._http = httpx.AsyncClient() if http is None else http
        self._is_own = http is None
        self._tenant = tenant
        connection = Connection(url.rstrip("/"), key, patience, timeout)
        sender = AsyncSender(connection, self._http)
        self.api = AsyncApi(sender)
        self.lists = AsyncLists(sender)
        self.operations = AsyncOperations(self.api, sender, tenant)
        self.batches = AsyncBatches(self.api, sender, tenant)
        self.uploads = AsyncUploads(self.api, sender, tenant)

    async def __aenter__(self) -> AsyncQuire:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes its connections."""
        if self._is_own:
            await self._http.aclose()

    async def extract(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **request: Unpack[models.ExtractForm],
    ) -> models.ExtractionResult:
        """Extracts data by a JSON Schema; waits for the answer."""
        answer = await self.api.extract(
            self._form(request), idempotency_key=idempotency_key, timeout=timeout
        )
        return cast(models.ExtractionResult, answer)

    async def extract_later(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **request: Unpack[models.ExtractForm],
    ) -> models.Operation:
        """The same as work that goes on after the answer: `operations.result` waits for it."""
        body = self._form(request)
        answer = await self.api.extract(
            body, prefer=LATER, idempotency_key=idempotency_key, timeout=timeout
        )
        return cast(models.Operation, answer)

    async def to_markdown(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **request: Unpack[models.ToMarkdownForm],
    ) -> models.MarkdownResult:
        """Converts a document to markdown; waits for the answer."""
        answer = await self.api.to_markdown(
            self._form(request), idempotency_key=idempotency_key, timeout=timeout
        )
        return cast(models.MarkdownResult, answer)

    async def to_markdown_later(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **request: Unpack[models.ToMarkdownForm],
    ) -> models.Operation:
        """The same as work that goes on after the answer."""
        body = self._form(request)
        answer = await self.api.to_markdown(
            body, prefer=LATER, idempotency_key=idempotency_key, timeout=timeout
        )
        return cast(models.Operation, answer)

    def _form(self, request: Any) -> Any:
        """The request, for the tenant that the client was made for unless it names another."""
        return request if self._tenant is None else {"tenant_id": self._tenant, **request}
