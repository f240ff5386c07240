"""A case: one group under examination, with everything a rule may look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import ConsumerState, GroupState, HeldRows, Snapshot, StreamState

Touched = Mapping[tuple[bytes, bytes, bytes], int]

TOUCH_SLACK_MS = 1_000
"""How far the time of a claim, as it was written down, may be from what the server did."""


@dataclass(frozen=True, slots=True)
class Case:
    """A group of a stream at `now_ms` (Unix milliseconds, the server's clock).

    `previous`: earlier snapshots, oldest first. `touched`: when the console last claimed entries to a consumer, by
    (stream, group, name), Unix milliseconds; a claim resets the idle time of the consumer it names.
    """

    stream: StreamState
    group: GroupState
    now_ms: int
    thresholds: Thresholds
    previous: Sequence[Snapshot] = ()
    touched: Touched = field(default_factory=dict)

    @property
    def is_looked_at(self) -> bool:
        """Whether the consumers are known: none were read where reading them failed, or their turn has not come."""
        return bool(self.group.consumers) or self.group.problem is None

    def held(self, consumer: ConsumerState) -> HeldRows | None:
        """What the scan saw of a consumer's rows."""
        return None if self.group.scan is None else self.group.scan.held.get(consumer.name)

    def was_only_touched(self, consumer: ConsumerState) -> bool:
        """Whether the last sign of life is the console's own claim to it, not an act of the consumer.

        Its idle time then is the time since that claim. Once it acts, its idle time is smaller than that.
        """
        touched_ms = self.touched.get((*self.group.key, consumer.name))
        if touched_ms is None:
            return False
        read_at_ms = self.now_ms if self.group.consumers_at_ms is None else self.group.consumers_at_ms
        since_ms = read_at_ms - touched_ms
        return since_ms >= -TOUCH_SLACK_MS and consumer.idle_ms >= since_ms - TOUCH_SLACK_MS

    def is_unseen(self, consumer: ConsumerState) -> bool:
        """Whether the consumer has shown no sign of life of its own for T."""
        return consumer.idle_ms >= self.thresholds.job_ms or self.was_only_touched(consumer)

    def all_rows_are_old(self, consumer: ConsumerState) -> bool:
        """Whether every row of a consumer that was looked at has been idle for T.

        While the first round through a long list has not come to its rows, the consumer's own idle time must do: rows
        are not younger than the last thing it did.
        """
        held = self.held(consumer)
        if held is not None:
            return self.now_ms - held.newest_delivery_ms >= self.thresholds.job_ms
        is_scanned = self.group.scan is not None and self.group.scan.complete
        return not is_scanned and consumer.idle_ms >= self.thresholds.job_ms

    def recoverable(self, consumer: ConsumerState) -> int:
        """How many entries it holds that a recovery can process: not those past the poison limit, nor ghosts."""
        held = self.held(consumer)
        return consumer.pending if held is None else max(0, consumer.pending - held.poison - held.ghosts)
