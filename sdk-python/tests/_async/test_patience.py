from __future__ import annotations

import time
from email.utils import formatdate
from unittest import IsolatedAsyncioTestCase

import httpx

from quire_client import AsyncQuire, Patience, UnexpectedAnswerError, problems

from ..support import (
    ADMIN,
    INVOICE,
    LEAVE_RUNNING,
    LOSE_ANSWER,
    REFUSE,
    RESULT,
    SCHEMA,
    Answer,
    BreakingProxy,
    new_tenant,
    problem,
)

BUSY = problem(503, "busy", **{"retry-after": "0"})
GATEWAY = Answer(502, {"content-type": "text/html"}, "<h1>Bad gateway</h1>")
STILL_RUNS = problem(409, "request_in_progress")


class AsyncPatienceTest(IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.proxy = BreakingProxy()
        self.tenant, self.key = new_tenant()
        self.quire = self.quire_of(self.key)

    async def asyncTearDown(self) -> None:
        await self.quire.aclose()
        self.proxy.stop()

    def quire_of(self, key: str) -> AsyncQuire:
        return AsyncQuire(self.proxy.url, key, patience=Patience(first_pause=0.001))

    async def test_sends_a_request_again_under_one_key_and_it_is_billed_once(self) -> None:
        self.proxy.faults += [BUSY, REFUSE, GATEWAY, LOSE_ANSWER]
        answer = await self.quire.extract(file=INVOICE, schema=SCHEMA)
        self.assertEqual((answer["result"], answer["cost"]["pages"]), (RESULT, 1))
        self.assertEqual((len(self.proxy.keys), len(set(self.proxy.keys))), (5, 1))
        usage = await self.quire.api.list_usage(self.tenant)
        self.assertEqual(usage["total"], 1)

    async def test_gives_each_call_a_key_of_its_own_and_takes_the_one_of_the_caller(self) -> None:
        await self.quire.extract(file=INVOICE, schema=SCHEMA)
        await self.quire.extract(file=INVOICE, schema=SCHEMA)
        await self.quire.extract(file=INVOICE, schema=SCHEMA, idempotency_key="mine")
        self.assertEqual(len(set(self.proxy.keys)), 3)
        self.assertEqual(self.proxy.keys[2], "mine")

    async def test_waits_for_the_answer_of_a_request_that_still_runs(self) -> None:
        self.proxy.faults += [LEAVE_RUNNING, *[STILL_RUNS] * 6]
        answer = await self.quire.extract(file=INVOICE, schema=SCHEMA)
        self.assertEqual(answer["result"], RESULT)
        self.assertGreaterEqual(len(self.proxy.keys), 8)
        self.assertEqual(len(set(self.proxy.keys)), 1)
        self.assertEqual((await self.quire.api.list_usage(self.tenant))["total"], 1)

    async def test_does_not_repeat_after_a_lost_answer_what_could_be_done_twice(self) -> None:
        async with self.quire_of(ADMIN) as admin:
            self.proxy.faults.append(LOSE_ANSWER)
            with self.assertRaises(httpx.TransportError):
                await admin.api.create_api_key({"tenant_id": self.tenant, "role": "tenant"})
            self.assertEqual(self.proxy.keys, [""])
            keys = await admin.api.list_api_keys(self.tenant)
            self.assertEqual(len(keys["items"]), 2)
            self.proxy.faults.append(BUSY)
            await admin.api.create_api_key({"tenant_id": self.tenant, "role": "tenant"})
            self.assertEqual((await admin.api.list_api_keys(self.tenant))["total"], 3)

    async def test_ends_after_the_fifth_request_and_at_a_pause_that_is_too_long(self) -> None:
        self.proxy.faults += [BUSY] * 5
        with self.assertRaises(problems.Busy):
            await self.quire.api.get_balance(self.tenant)
        self.assertEqual(len(self.proxy.keys), 5)
        for asked in ("61", formatdate(time.time() + 3_600, usegmt=True)):
            self.proxy.faults.append(problem(503, "busy", **{"retry-after": asked}))
            with self.assertRaises(problems.Busy):
                await self.quire.api.get_balance(self.tenant)
        self.assertEqual(len(self.proxy.keys), 7)

    async def test_gives_a_try_up_that_is_silent_for_longer_than_its_time(self) -> None:
        quire = AsyncQuire(
            self.proxy.url, self.key, timeout=1e-6, patience=Patience(attempts=2, first_pause=0)
        )
        async with quire:
            with self.assertRaises(httpx.TimeoutException):
                await quire.api.get_balance(self.tenant)
            balance = await quire.api.get_balance(self.tenant, timeout=60)
            self.assertEqual(balance["tenant_id"], self.tenant)

    async def test_tells_the_answer_of_a_proxy_from_one_of_the_service(self) -> None:
        self.proxy.faults += [GATEWAY] * 5
        with self.assertRaises(UnexpectedAnswerError) as caught:
            await self.quire.api.get_balance(self.tenant)
        error = caught.exception
        self.assertEqual((error.status, error.text), (502, "<h1>Bad gateway</h1>"))
        sign_in = Answer(200, {"content-type": "text/html"}, "<h1>Sign in</h1>")
        self.proxy.faults.append(sign_in)
        with self.assertRaises(UnexpectedAnswerError):
            await self.quire.api.get_balance(self.tenant)
        self.proxy.faults.append(sign_in)
        with self.assertRaises(UnexpectedAnswerError):
            async for _ in self.quire.batches.results("batch_1"):
                pass

    async def test_takes_a_batch_that_ends_within_a_line_for_one_that_was_cut(self) -> None:
        cut = '{"index": 0}\n{"index": 1, "sta'
        self.proxy.faults.append(Answer(200, {"content-type": "application/x-ndjson"}, cut))
        seen = []
        with self.assertRaises(httpx.RemoteProtocolError):
            async for result in self.quire.batches.results("batch_1"):
                seen.append(result["index"])
        self.assertEqual(seen, [0])

    async def test_takes_its_key_nowhere_that_a_redirect_leads_to(self) -> None:
        elsewhere = BreakingProxy()
        moved = {"location": f"{elsewhere.url}/v1/billing/balance/{self.tenant}"}
        self.proxy.faults.append(Answer(302, moved))
        try:
            async with httpx.AsyncClient(follow_redirects=True) as http:
                quire = AsyncQuire(self.proxy.url, self.key, http=http)
                with self.assertRaisesRegex(UnexpectedAnswerError, "302.*leads to"):
                    await quire.api.get_balance(self.tenant)
            self.assertEqual(elsewhere.keys, [])
        finally:
            elsewhere.stop()
