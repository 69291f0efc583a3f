"""What sends calls and files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from .._wire import GOES_ON, Call, Connection, Lines, Tries, looks
from ..errors import data_of, error_of, unexpected


class AsyncSender:
    """Sends requests, each until it has an answer that a repeat would not better."""

    def __init__(self, connection: Connection, http: httpx.AsyncClient) -> None:
        self.connection = connection
        self.http = http

    async def data(self, call: Call) -> Any:
        """What a call answers with; raises what the service says went wrong."""
        made = call.request(self.connection)
        return data_of(await self.answer(lambda: self.http.build_request(**made), call))

    async def entries(self, call: Call) -> AsyncIterator[Any]:
        """All entries of a list from the call's offset on, asked for page by page."""
        offset = int(str(call.query.get("offset") or 0))
        while True:
            page = await self.data(call.beginning_at(offset))
            for entry in page["items"]:
                yield entry
            offset += len(page["items"])
            if not page["items"] or offset >= page["total"]:
                return

    async def until(self, call: Call, timeout: float | None, told: Any) -> Any:
        """What a call answers with once that has ended; `told` is given each answer."""
        pauses = looks(timeout)
        while True:
            state = await self.data(call)
            if told is not None:
                told(state)
            if state["status"] not in GOES_ON:
                return state
            await asyncio.sleep(next(pauses))

    async def lines(self, call: Call) -> AsyncIterator[Any]:
        """The values of an answer that has one a line, as they arrive."""
        made = call.request(self.connection)
        lines = Lines()
        response = await self.answer(lambda: self.http.build_request(**made), call, is_stream=True)
        try:
            if "json" not in response.headers.get("content-type", ""):
                await response.aread()
                raise unexpected(response)
            async for part in response.aiter_bytes():
                for value in lines.of(part):
                    yield value
            if lines.is_cut():
                raise httpx.RemoteProtocolError("the answer ends within a line")
        finally:
            await response.aclose()

    async def answer(
        self, make: Callable[[], httpx.Request], call: Call, is_stream: bool = False
    ) -> httpx.Response:
        """The answer to the request that `make` makes anew for each try, if it is 2xx."""
        tries = Tries(self.connection.patience, call.is_repeatable)
        while True:
            try:
                # A redirect would take the key along, to wherever it leads.
                response = await self.http.send(make(), stream=True, follow_redirects=False)
                if not (is_stream and response.is_success):
                    await response.aread()
            except httpx.TransportError as error:
                pause = tries.after_loss(error)
                if pause is None:
                    raise
            else:
                pause = tries.after(response)
                if pause is None:
                    break
            await asyncio.sleep(pause)
        if not response.is_success:
            raise error_of(response)
        return response
