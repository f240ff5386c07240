"""Notes on standard error: what could not be looked at, beside an answer that stands without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .boundary import complain

if TYPE_CHECKING:
    from echomq_console.model.snapshot import Snapshot


def print_notes(snapshot: Snapshot) -> None:
    """Say what could not be read, one line each."""
    for problem in snapshot.problems:
        complain(f"note: {problem}")
    if not snapshot.complete:
        complain("note: the search for streams was not finished: there may be more")
