"""A running service, and what stands between it and a client that breaks what a network breaks."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from quire_client import Quire

URL = os.environ["QUIRE_URL"]
ADMIN = os.environ["ADMIN_KEY"]

INVOICE = b"Invoice number: Q-1001\nDate: 2026-03-01\nCustomer: Acme GmbH\nTotal: 120.50 EUR\n"
SCHEMA = {
    "type": "object",
    "properties": {"invoice_number": {"type": "string"}, "total": {"type": "number"}},
}
RESULT = {"invoice_number": "Q-1001", "total": 120.5}


def new_tenant() -> tuple[str, str]:
    """A tenant of a test's own, and its key."""
    tenant = f"py-{uuid.uuid4()}"
    with Quire(URL, ADMIN) as operator:
        made = operator.api.create_api_key({"tenant_id": tenant, "role": "tenant"})
    return tenant, made["key"]


def sell(tenant: str, credits: int) -> None:
    """Sells credits at the first price list."""
    with Quire(URL, ADMIN) as operator:
        operator.api.add_credits(
            {
                "tenant_id": tenant,
                "provider_txn_id": str(uuid.uuid4()),
                "credits": credits,
                "gross_amount_minor": credits // 10,
            }
        )


@dataclass(frozen=True)
class Answer:
    """Given instead of the service's."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


LOSE_ANSWER = "lose the answer"
LEAVE_RUNNING = "lose the connection while the service works"
REFUSE = "refuse the connection"


def problem(status: int, code: str, **headers: str) -> Answer:
    """A problem as the service answers it."""
    body = json.dumps({"code": code, "status": status, "title": code, "detail": "later"})
    return Answer(status, {"content-type": "application/problem+json", **headers}, body)


class BreakingProxy(ThreadingHTTPServer):
    """Passes requests on, but for one fault each as long as it has any."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults: list[Answer | str] = []
        self.keys: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Ends it."""
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BreakingProxy

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.keys.append(self.headers.get("idempotency-key", ""))
        fault = self.server.faults.pop(0) if self.server.faults else None
        if fault == LEAVE_RUNNING:
            threading.Thread(target=self._passed_on, args=(body,), daemon=True).start()
        answer = fault if isinstance(fault, Answer) else None
        if fault in (None, LOSE_ANSWER):
            answer = self._passed_on(body)
        if fault in (REFUSE, LOSE_ANSWER, LEAVE_RUNNING) or answer is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        text = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "content-length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def _passed_on(self, body: bytes) -> Answer:
        service = http.client.HTTPConnection(urlsplit(URL).netloc)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        service.request(self.command, self.path, body, headers)
        given = service.getresponse()
        kept = {"content-type": given.getheader("content-type") or ""}
        return Answer(given.status, kept, given.read().decode())

    do_GET = do_POST = do_PUT = do_DELETE = _handle
