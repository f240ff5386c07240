"""Plans, progress and outcomes: an operator's action as data, from its dry run to its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from .entry_id import EntryId
from .snapshot import PendingEntry


@dataclass(frozen=True, slots=True)
class Target:
    """What an action is about, captured once when it is asked for and never read again from a selection.

    `consumer`: whose entries (drain), or None. `ids`: exactly these entries, or empty where the action goes by rule.
    `min_deliveries`: the pending entries delivered so often or more (dead-letter), in place of ids.
    """

    stream: bytes
    group: bytes
    consumer: bytes | None = None
    ids: tuple[EntryId, ...] = ()
    min_deliveries: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How an action is run. Times in milliseconds; None means the default of the profile.

    `handler`: `module:function` or `exec:ARG ARG ...`. `max_attempts`: entries past it go to the dead letters instead
    of the handler; None: never. `owner_is_stopped`: the operator's word that no process of that name is running.
    """

    min_idle_ms: int | None = None
    handler: str | None = None
    max_attempts: int | None = None
    reason: str = "moved by an operator"
    owner_is_stopped: bool = False
    batch: int = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """The dry run of an action: what it would do, and what it would not.

    `count` entries (an estimate where `exact` is False: other clients go on working meanwhile), `sample` some of them,
    `owners` how many from whom. `commands` are the exact commands. `needs_count`: the number must be typed to confirm.
    `refusal`: why it cannot be run at all. `looked_at`: when the look was over, this process's monotonic seconds (None:
    unknown).
    """

    action: str
    target: Target
    options: Options
    actor: str
    count: int
    exact: bool
    sample: tuple[PendingEntry, ...]
    owners: dict[bytes, int]
    effects: tuple[str, ...]
    untouched: tuple[str, ...]
    reassurances: tuple[str, ...]
    warnings: tuple[str, ...]
    commands: tuple[str, ...]
    needs_count: bool
    refusal: str | None = None
    before: tuple[PendingEntry, ...] = field(default=(), repr=False)
    looked_at: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry the action left alone, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come; `line` is one event in words, for a log."""

    done: int
    failed: int
    dead_lettered: int
    skipped: int
    total: int
    line: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did. `done` counts entries acknowledged after a handler's ok, or moved; `ids` are those.

    `failed` are still pending (the handler said no), `dead_lettered` were moved by the attempts limit.
    `error` is one line where the run ended early; `remaining` one that says what a stopped run left, and where.
    """

    action: str
    stream: bytes
    group: bytes
    done: int
    failed: int
    dead_lettered: int
    ids: tuple[str, ...]
    failures: tuple[Skipped, ...]
    skipped: tuple[Skipped, ...]
    audit_id: str
    seconds: float
    error: str | None = None
    remaining: str | None = None
