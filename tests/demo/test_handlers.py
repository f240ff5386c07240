"""The handler an operator picks in the demo: yes to what is good, no to the poison entry."""

from __future__ import annotations

from random import Random

import pytest

from echomq_console.demo.handlers import handle
from echomq_console.demo.payloads import POISON, capture, order
from echomq_console.engine import Entry, Error, Ok


def entry(**fields: bytes) -> Entry:
    payload = {name.encode(): value for name, value in fields.items()}
    return Entry(id="EVT000xY9Wvvcd", payload=payload, attempts=1, group="ledger")


async def test_orders_and_captures_are_handled() -> None:
    random = Random(7)
    for make in (order, capture):
        for _ in range(20):
            assert await handle(entry(data=make(random))) == Ok()


async def test_the_poison_entry_is_refused_by_reason() -> None:
    assert await handle(entry(data=POISON)) == Error("amount is null: cannot capture")


@pytest.mark.parametrize("fields", [{}, {"data": b"\xff"}, {"data": b"{"}, {"data": b"[1]"}, {"other": b"{}"}])
async def test_what_is_no_document_is_refused(fields: dict[str, bytes]) -> None:
    assert await handle(entry(**fields)) == Error("the entry holds no JSON document")
