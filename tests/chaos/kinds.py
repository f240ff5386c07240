"""The kinds of entries a run adds: each says in its fields what its handler is to do with it."""

from __future__ import annotations

import random
from dataclasses import dataclass

SLOW = (1.2, 1.6)
"""Seconds a slow handler takes: longer than the `min_idle` of the consumers."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is made of: `seed` decides everything but the timing; `seconds` is how long faults go on."""

    seed: int
    entries: int
    seconds: float
    limit: int = 5
    min_idle: float = 1.0
    beat: float = 0.2

    @property
    def work(self) -> float:
        """Seconds an ordinary handler takes, so that the consumers are busy for a quarter of the time."""
        return 4.0 * self.seconds / self.entries

    @property
    def patience(self) -> float:
        """Seconds in which everything must have settled once the faults are over."""
        return 60.0 + self.entries / 2000


def kinds(plan: Plan) -> dict[int, str]:
    """Choose the entries that are not plain; poison and killers come early, since they take a while to be given up."""
    chance = random.Random(f"kinds {plan.seed}")
    most = plan.entries
    early = range(most // 50, most // 2)
    chosen: dict[int, str] = {}
    for kind, share, least, top in (("killer", 50_000, 2, 12), ("poison", 1000, 3, 300), ("refused", 2000, 2, 100)):
        for n in chance.sample(early, min(top, max(least, most // share))):
            chosen.setdefault(n, kind)
    for kind, share, least, top in (("slow", 250, 5, 1000), ("fail", 50, 10, 5000)):
        for n in chance.sample(range(most), min(top, max(least, most // share))):
            chosen.setdefault(n, kind)
    return chosen


def fields(plan: Plan, n: int, kind: str, chance: random.Random) -> tuple[bytes, ...]:
    """Write an entry's fields: its number, its kind, and the seconds or the number of failures it is to take."""
    match kind:
        case "slow":
            how = f"{chance.uniform(*SLOW):.3f}"
        case "fail":
            how = str(chance.randint(1, 2))
        case "killer":
            how = f"{chance.uniform(0.0, 0.02):.4f}"
        case _:
            how = f"{chance.uniform(0.0, 2 * plan.work):.4f}"
    return (b"n", b"%d" % n, b"kind", kind.encode(), b"how", how.encode())
