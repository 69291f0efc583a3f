from __future__ import annotations

import io
import os
import pickle
import tempfile
from pathlib import Path
from unittest import IsolatedAsyncioTestCase

import httpx

from quire_client import (
    AsyncQuire,
    NoResultError,
    ProblemError,
    QuireError,
    WaitTimeoutError,
    models,
    problems,
)

from ..support import ADMIN, INVOICE, RESULT, SCHEMA, URL, new_tenant, sell

LINE = b"Lorem ipsum dolor sit amet.\n"
MORE_THAN_FREE = LINE * 60 * 120
LONG = LINE * 60 * 400


class AsyncClientTest(IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.tenant, self.key = new_tenant()
        self.quire = AsyncQuire(f"{URL}/", self.key, tenant=self.tenant)

    async def asyncTearDown(self) -> None:
        await self.quire.aclose()

    async def test_lists_what_is_wrong_with_a_request(self) -> None:
        with self.assertRaises(problems.ValidationError) as caught:
            await self.quire.api.create_batch({"file_uris": []})
        error = caught.exception
        self.assertRegex(str(error), r"^validation_error: body\..*: ")
        self.assertEqual(error.issues, error.problem["errors"])
        issue = {"loc": ["body", "x"], "msg": "Unknown member.", "type": "extra_forbidden"}
        before = {"code": "validation_error", "title": "No", "status": 422, "detail": [issue]}
        self.assertEqual(ProblemError.of(before).issues, [issue])

    async def test_extracts_and_converts_from_bytes_a_path_and_an_open_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "note.txt"
            path.write_bytes(INVOICE)
            named = await self.quire.extract(file=path, schema=SCHEMA, mode="fast")
            self.assertEqual(named["result"], RESULT)
            self.assertEqual(named["meta"]["file_name"], "note.txt")
            with open(path, "rb") as opened:
                again = await self.quire.extract(file=opened, schema=SCHEMA)
            self.assertEqual(again["meta"]["file_name"], "note.txt")
            with self.assertRaises(FileNotFoundError):
                await self.quire.extract(file=os.path.join(folder, "none"), schema=SCHEMA)
        plain = await self.quire.extract(
            file=INVOICE,
            schema='{"type":"object","properties":{"total":{"type":"number"}}}',
            citations=False,
        )
        self.assertEqual(plain["result"], {"total": 120.5})
        converted = await self.quire.to_markdown(file=io.BytesIO(INVOICE), include="blocks")
        self.assertIn("Acme GmbH", converted["plain_text"])

    async def test_works_for_the_tenant_that_it_was_made_for_with_a_key_for_all(self) -> None:
        async with AsyncQuire(URL, ADMIN, tenant=self.tenant) as quire:
            operation = await quire.extract_later(file=INVOICE, schema=SCHEMA)
            self.assertEqual(operation["tenant_id"], self.tenant)
            with self.assertRaises(problems.TenantMismatch):
                await self.quire.extract(file=INVOICE, schema=SCHEMA, tenant_id="another")

    async def test_tells_problems_by_their_codes_with_the_members_of_each(self) -> None:
        async with AsyncQuire(URL, "wrong") as stranger:
            with self.assertRaises(problems.InvalidApiKey):
                await stranger.api.get_billing_rates()
        with self.assertRaises(problems.InsufficientCredits) as caught:
            await self.quire.extract(file=MORE_THAN_FREE, schema=SCHEMA)
        error = caught.exception
        self.assertEqual((error.code, error.status), ("insufficient_credits", 403))
        self.assertEqual(str(error), f"insufficient_credits: {error.detail}")
        self.assertRegex(error.request_id or "", "^[0-9A-Za-z_-]{8,}$")
        self.assertGreater(
            error.problem["required_credits"], error.problem.get("available_credits", 0)
        )
        self.assertIsInstance(error, QuireError)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), copy.problem), (type(error), error.problem))
        later = ProblemError.of({"code": "of_a_later_release", "status": 418, "title": "New"})
        self.assertEqual((type(later), str(later)), (ProblemError, "of_a_later_release: New"))

    async def test_iterates_over_a_list_page_by_page_from_an_offset_and_an_empty_one(self) -> None:
        for credits in (1000, 2000, 3000, 4000, 5000):
            sell(self.tenant, credits)

        async def credits_of(limit: int, offset: int | None = None) -> list[int]:
            grants = self.quire.lists.list_grants(self.tenant, limit=limit, offset=offset)
            return sorted([grant["credits"] async for grant in grants])

        self.assertEqual(await credits_of(2), [1000, 2000, 3000, 4000, 5000])
        self.assertEqual(len(await credits_of(5)), 5)
        self.assertEqual(len(await credits_of(2, 3)), 2)
        async for operation in self.quire.lists.list_operations(tenant_id=self.tenant):
            self.fail(operation["operation_id"])

    async def test_waits_for_the_result_and_tells_each_state(self) -> None:
        operation = await self.quire.extract_later(file=INVOICE, schema=SCHEMA)
        self.assertEqual(operation["status"], "queued")
        states: list[models.Operation] = []
        ended = await self.quire.operations.wait(operation, on_progress=states.append)
        self.assertEqual(ended["status"], "succeeded")
        self.assertEqual(states[-1], ended)
        answer = await self.quire.operations.result(operation["operation_id"])
        self.assertEqual(answer["result"], RESULT)
        converted = await self.quire.to_markdown_later(file=INVOICE)
        self.assertIn("markdown", await self.quire.operations.result(converted, timeout=60))

    async def test_raises_the_problem_that_the_call_would_have_raised(self) -> None:
        schema = {
            "type": "object",
            "properties": {"iban": {"type": "string"}},
            "required": ["iban"],
        }
        operation = await self.quire.extract_later(file=INVOICE, schema=schema)
        with self.assertRaises(problems.OutputSchemaMismatch):
            await self.quire.operations.result(operation)

    async def test_stops_waiting_and_says_that_an_operation_was_cancelled(self) -> None:
        sell(self.tenant, 100_000)
        operation = await self.quire.extract_later(file=LONG, schema=SCHEMA)
        with self.assertRaises(WaitTimeoutError):
            await self.quire.operations.wait(operation, timeout=0)
        await self.quire.operations.cancel(operation["operation_id"])
        with self.assertRaises(NoResultError) as caught:
            await self.quire.operations.result(operation)
        self.assertEqual(str(caught.exception), f"{operation['operation_id']} was cancelled")

    async def test_waits_for_a_batch_and_reads_the_results_in_order(self) -> None:
        file_uris = []
        for name in ("a", "b", "c"):
            text = f"Invoice number: {name}-1\nTotal: 1.00 EUR\n".encode()
            upload = await self.quire.uploads.send(text, file_name=f"{name}.txt")
            file_uris.append(upload["file_uri"])
        batch = await self.quire.api.create_batch({"file_uris": file_uris, "schema": SCHEMA})
        ended = await self.quire.batches.wait(batch)
        self.assertEqual(ended["status"], "ended")
        numbers: list[str] = []
        async for document in self.quire.batches.results(batch):
            self.assertEqual((document["index"], document["status"]), (len(numbers), "succeeded"))
            numbers.append((document["result"] or {})["result"]["invoice_number"])
        self.assertEqual(numbers, ["a-1", "b-1", "c-1"])
        async with AsyncQuire(URL, new_tenant()[1]) as other:
            with self.assertRaises(problems.BatchNotFound):
                async for document in other.batches.results(batch["batch_id"]):
                    self.fail(str(document))

    async def test_sends_a_file_through_presign_and_tells_how_much_was_sent(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "note.txt"
            path.write_bytes(INVOICE + b" " * 200_000)
            told: list[tuple[int, int]] = []
            upload = await self.quire.uploads.send(
                path,
                content_type="text/plain",
                on_progress=lambda sent, size: told.append((sent, size)),
            )
            size = path.stat().st_size
        self.assertEqual(told[-1], (size, size))
        self.assertGreater(len(told), 2)
        self.assertEqual(told, sorted(told))
        counted = await self.quire.api.count_pages(
            {"documents": [{"file_uri": upload["file_uri"]}]}
        )
        self.assertEqual(counted["items"][0]["status"], "ok")

    async def test_removes_an_upload_and_needs_a_tenant(self) -> None:
        upload = await self.quire.uploads.send(INVOICE)
        await self.quire.uploads.remove(upload["document_id"])
        counted = await self.quire.api.count_pages(
            {"documents": [{"file_uri": upload["file_uri"]}]}
        )
        self.assertNotEqual(counted["items"][0]["status"], "ok")
        async with AsyncQuire(URL, ADMIN) as operator:
            with self.assertRaises(TypeError):
                await operator.uploads.send(INVOICE)
            place = await operator.uploads.send(INVOICE, tenant_id="named-for-one")
            await operator.uploads.remove(place["document_id"])

    async def test_raises_what_the_service_says_of_a_file(self) -> None:
        with self.assertRaises(problems.ValidationError):
            await self.quire.uploads.send(b"")

    async def test_leaves_a_client_of_httpx_open_that_it_was_given(self) -> None:
        async with httpx.AsyncClient() as http:
            async with AsyncQuire(URL, self.key, http=http) as quire:
                await quire.api.get_balance(self.tenant)
            self.assertFalse(http.is_closed)
