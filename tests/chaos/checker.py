"""The checker: from the history of a run, plain set arithmetic says what became of every entry.

In the manner of Jepsen's total-queue checker: what producers added against what handlers did, what was dead-lettered
and what is still pending. It asks no server and has no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

MARKED = frozenset({"poison", "refused", "killer"})
"""The kinds of entries that may end in the dead letters: no handler ever answers `Ok` to them."""

FORBIDDEN = (
    "lost",
    "unexpected",
    "unsettled",
    "silent",
    "dead_twice",
    "dead_changed",
    "bystanders",
    "dead_early",
    "past_limit",
    "uncounted",
    "doubled",
)
"""What must be empty. The rest of a verdict is reported: delivery is at-least-once."""

MEANING = {
    "lost": "added, and neither handled, dead-lettered nor pending",
    "unexpected": "handled, acknowledged or dead-lettered, and never added",
    "unsettled": "still pending or undelivered at the end",
    "silent": "acknowledged, and no handler had answered Ok",
    "dead_twice": "dead-lettered more than once",
    "dead_changed": "dead-lettered with other fields than it had",
    "bystanders": "dead-lettered, and never marked as poison",
    "dead_early": "dead-lettered before its attempts were used up",
    "past_limit": "given to a handler past the limit",
    "uncounted": "redelivered without being counted: begun twice at one count above 1",
    "doubled": "begun in a process where it still ran",
    "duplicated": "answered with Ok more than once",
    "recovered": "handled after a crash, a claim or a lost answer",
    "indeterminate": "added, though the producer never heard so",
    "first_twice": "begun twice as a first delivery: the answer to a claim was lost",
    "overcounted": "counted three times or more with no handler begun",
}


class Event(NamedTuple):
    """One line of the history of one process.

    `what`: `begin`, `ok`, `error` (a handler's), `acknowledged` or `claimed` (the consumer's). `n`: the number of the
    entry. `attempts`: its delivery count, where known. `who`: the process, one of its own for each start.
    """

    what: str
    n: int
    attempts: int
    who: str


class Dead(NamedTuple):
    """One dead letter: the number of the entry, its delivery count at the move, whether its fields are unchanged."""

    n: int
    attempts: int
    intact: bool = True


@dataclass(frozen=True, slots=True)
class History:
    """What happened.

    `added`: every entry a producer tried to add, and its kind. `confirmed`: those the server confirmed. `present`:
    those the stream holds. `events`: in order for each process; their order between processes does not matter.
    `pending`: what is pending or was never delivered at the end. `dead`: the dead letters. `limit`: `max_attempts`.
    """

    added: Mapping[int, str]
    confirmed: Set[int]
    present: Set[int]
    events: Iterable[Event]
    pending: Set[int]
    dead: Sequence[Dead]
    limit: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers of the entries each word of MEANING applies to, and how many handlers began and answered `Ok`."""

    found: Mapping[str, Set[int]]
    begun: int
    handled: int

    @property
    def violations(self) -> dict[str, list[int]]:
        """What must be empty and is not, with the first few entries of each."""
        return {name: sorted(self.found[name])[:20] for name in FORBIDDEN if self.found[name]}

    @property
    def counts(self) -> dict[str, int]:
        """How many entries each word applies to."""
        return {name: len(self.found[name]) for name in MEANING}


@dataclass(slots=True)
class _Tally:
    """What the events say, summed up in one pass."""

    begins: Counter[int] = field(default_factory=Counter)
    most: dict[int, int] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    again: set[tuple[int, int]] = field(default_factory=set)
    oks: Counter[int] = field(default_factory=Counter)
    acknowledged: set[int] = field(default_factory=set)
    claimed: set[int] = field(default_factory=set)
    doubled: set[int] = field(default_factory=set)
    running: set[tuple[str, int]] = field(default_factory=set)

    def note(self, event: Event) -> None:
        n = event.n
        match event.what:
            case "begin":
                self.begins[n] += 1
                self.most[n] = max(self.most.get(n, 0), event.attempts)
                seen, this = self.counts.get(n, 0), 1 << event.attempts  # the counts it began at, a bit for each
                if seen & this:
                    self.again.add((n, event.attempts))
                self.counts[n] = seen | this
                if (event.who, n) in self.running:
                    self.doubled.add(n)
                self.running.add((event.who, n))
            case "ok":
                self.oks[n] += 1
                self.running.discard((event.who, n))
            case "error":
                self.running.discard((event.who, n))
            case "acknowledged":
                self.acknowledged.add(n)
            case "claimed":
                self.claimed.add(n)
            case _:
                raise ValueError(f"not an event of a history: {event.what!r}")


def check(history: History) -> Verdict:
    """Say what became of every entry."""
    tally = _Tally()
    for event in history.events:
        tally.note(event)
    added, handled, known = history.added.keys(), tally.oks.keys(), history.confirmed | history.present
    copies = Counter(letter.n for letter in history.dead)
    dead = copies.keys()
    cut_off = {n for _, n in tally.running}
    excess = {n: most - tally.begins[n] for n, most in tally.most.items()}
    interrupted = cut_off | tally.claimed | {n for n, more in excess.items() if more > 0}
    found: dict[str, Set[int]] = {
        "lost": known - handled - dead - history.pending,
        "unexpected": (tally.begins.keys() | handled | dead | tally.acknowledged) - added,
        "unsettled": history.pending,
        "silent": tally.acknowledged - handled,
        "dead_twice": {n for n, times in copies.items() if times > 1},
        "dead_changed": {letter.n for letter in history.dead if not letter.intact},
        "bystanders": {n for n in dead if n in history.added and history.added[n] not in MARKED},
        "dead_early": {
            letter.n
            for letter in history.dead
            if letter.attempts < history.limit and history.added.get(letter.n) != "refused"
        },
        "past_limit": {n for n, most in tally.most.items() if most > history.limit},
        "uncounted": {n for n, attempts in tally.again if attempts > 1},
        "doubled": tally.doubled,
        "duplicated": {n for n, times in tally.oks.items() if times > 1},
        "recovered": interrupted & handled,
        "indeterminate": history.present - history.confirmed,
        "first_twice": {n for n, attempts in tally.again if attempts <= 1},
        "overcounted": {n for n, more in excess.items() if more > 2},
    }
    return Verdict(found, tally.begins.total(), tally.oks.total())
