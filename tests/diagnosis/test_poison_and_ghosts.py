"""poison and ghosts: entries that fail again and again, and rows that have none any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Recovery, Severity
from echomq_console.model.snapshot import PendingEntry

Make = Callable[..., Any]


def _row(ms: int, deliveries: int = 5, idle: int = 3_000) -> PendingEntry:
    return PendingEntry(EntryId(ms, 0), b"web-1", idle, deliveries)


def test_entries_past_the_limit_are_poison(make: Make) -> None:
    scan = {"poison": (_row(7), _row(9, deliveries=17)), "poison_count": 2}
    (finding,) = make(scan_fields=scan).consumer(b"web-1", idle=10, rows=40, longest=5).findings()
    assert (finding.rule, finding.severity, finding.consumer) == ("poison", Severity.CRITICAL, None)
    assert finding.headline == "2 entries were delivered 5 times or more (up to 17) and never acknowledged."
    assert finding.recovery.action == "dead-letter"
    assert finding.recovery.command == "echomq-console dead-letter orders billing 9-0 7-0"
    assert finding.evidence["owners"] == "web-1"
    assert finding.evidence["longest_idle_ms"] == 3_000


def test_many_are_named_by_a_filter(make: Make) -> None:
    scan = {"poison": tuple(_row(n) for n in range(100)), "poison_count": 4_000}
    (finding,) = make(scan_fields=scan).consumer(b"web-1", idle=10, rows=5_000, longest=5).findings()
    assert finding.headline.startswith("4,000 entries were")
    assert finding.recovery.command == "echomq-console dead-letter orders billing 'deliveries>=5'"


def test_a_ghost_cannot_be_poison(make: Make) -> None:
    scan = {"poison": (_row(7),), "ghosts": (EntryId(7, 0),), "ghost_count": 1}
    assert make(scan_fields=scan).consumer(b"web-1", idle=10, rows=40, longest=5).rules() == ["ghosts"]


def test_nothing_pending_is_nothing_wrong_whatever_an_old_scan_says(make: Make) -> None:
    scan = {"poison": (_row(7),), "ghosts": (EntryId(8, 0),), "ghost_count": 1}
    assert make(scan_fields=scan).consumer(b"web-1", idle=10).rules() == []


def test_rows_without_entries_are_ghosts(make: Make) -> None:
    scan = {"ghosts": (EntryId(3, 0), EntryId(4, 1)), "ghost_count": 2}
    (finding,) = make(scan_fields=scan).consumer(b"web-1", idle=10, rows=40, longest=5).findings()
    assert (finding.rule, finding.severity, finding.consumer) == ("ghosts", Severity.WARNING, None)
    assert finding.headline.startswith("2 pending rows have no entry any more")
    assert finding.evidence["ids"] == "3-0, 4-1"
    assert finding.evidence["ghosts"] == 2
    assert finding.recovery == Recovery("", "")
