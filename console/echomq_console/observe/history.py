"""History: the numbers of the last snapshots, for rates and sparklines. Unknown is None, never 0."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from echomq_console.model.snapshot import GroupState, Snapshot, StreamState

Key = tuple[bytes, bytes]
Series = Literal["pending", "lag", "in", "delivered", "acked"]


@dataclass(frozen=True, slots=True)
class GroupRates:
    """Entries a second, over the window asked for; None where the server does not say enough.

    `in_per_s` is of the whole stream. `acked_per_s` counts rows that left the pending list: acknowledged, and also
    retired ghosts, dead letters and what a deleted consumer held.
    """

    in_per_s: float | None
    delivered_per_s: float | None
    acked_per_s: float | None


@dataclass(frozen=True, slots=True)
class _Sample:
    at_ms: int
    added: int | None
    delivered: int | None
    pending: int
    lag: int | None


_UNKNOWN = GroupRates(None, None, None)


class History:
    """The last `limit` samples of every group that is still there."""

    def __init__(self, limit: int = 120) -> None:
        self._limit = limit
        self._samples: dict[Key, deque[_Sample]] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Take over the numbers of a snapshot. Groups that are gone from it are forgotten."""
        seen: set[Key] = set()
        for stream, group in snapshot.groups():
            seen.add(group.key)
            at_ms = snapshot.taken_at_ms if stream.read_at_ms is None else stream.read_at_ms
            samples = self._samples.setdefault(group.key, deque(maxlen=self._limit))
            sample = _sample(at_ms, stream, group)
            if samples and _is_made_again(samples[-1], sample):
                samples.clear()
            if not samples or at_ms > samples[-1].at_ms:  # a stream whose turn did not come has nothing new to say
                samples.append(sample)
        for key in self._samples.keys() - seen:
            del self._samples[key]

    def rates(self, key: Key, *, window_ms: int = 10_000) -> GroupRates:
        """The rates of a group (stream, group) over the last `window_ms`.

        acked = delivered − growth of the pending list; where that is negative (rows came back by an undo or a
        redrive, or entries-read was corrected) it is unknown, not 0.
        """
        samples = self._samples.get(key)
        if samples is None or len(samples) < 2:
            return _UNKNOWN
        last = samples[-1]
        first = next(s for s in samples if last.at_ms - s.at_ms <= window_ms)
        if first is last:
            first = samples[-2]
        return _rates(first, last)

    def series(self, key: Key, name: Series, count: int = 30) -> tuple[float | None, ...]:
        """The last `count` values, oldest first: `pending` and `lag` in entries, the others in entries a second."""
        samples = list(self._samples.get(key, ()))
        if name == "pending":
            return tuple(float(s.pending) for s in samples[-count:])
        if name == "lag":
            return tuple(None if s.lag is None else float(s.lag) for s in samples[-count:])
        rate = _RATES[name]
        return tuple(rate(_rates(a, b)) for a, b in pairwise(samples[-count - 1 :]))


_RATES: dict[str, Callable[[GroupRates], float | None]] = {
    "in": lambda rates: rates.in_per_s,
    "delivered": lambda rates: rates.delivered_per_s,
    "acked": lambda rates: rates.acked_per_s,
}


def _sample(at_ms: int, stream: StreamState, group: GroupState) -> _Sample:
    return _Sample(at_ms, stream.entries_added, group.entries_read, group.pending, group.lag)


def _rates(first: _Sample, last: _Sample) -> GroupRates:
    seconds = (last.at_ms - first.at_ms) / 1000
    added = _growth(first.added, last.added)
    delivered = _growth(first.delivered, last.delivered)
    acked = None if delivered is None else delivered - (last.pending - first.pending)
    return GroupRates(
        None if added is None else added / seconds,
        None if delivered is None else delivered / seconds,
        None if acked is None or acked < 0 else acked / seconds,
    )


def _growth(first: int | None, last: int | None) -> int | None:
    return None if first is None or last is None or last < first else last - first


def _is_made_again(before: _Sample, now: _Sample) -> bool:
    """A counter ran backwards: the stream or the group is another one of the same name."""
    return any(
        a is not None and b is not None and b < a
        for a, b in ((before.added, now.added), (before.delivered, now.delivered))
    )
