"""The window on a pending list: pages by id, lists that shrink and grow under it, jumps, bodies."""

from __future__ import annotations

from collections.abc import Sequence

from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import PendingEntry
from echomq_console.terminal import pending
from echomq_console.terminal.pending import PAGE, PendingWindow


class PendingList:
    """A pending list as a server has it: rows by id, given from an id on; counts what is asked of it."""

    def __init__(self, count: int) -> None:
        self.ids = [EntryId(n + 1, 0) for n in range(count)]
        self.asked: list[int] = []
        self.bodies_asked: list[EntryId] = []
        self.ghosts: set[EntryId] = set()
        self.body = b"a payload"

    async def look(self, start: EntryId | None, count: int) -> tuple[PendingEntry, ...]:
        assert count > 0
        self.asked.append(count)
        found = [i for i in self.ids if start is None or i >= start][:count]
        return tuple(PendingEntry(i, b"c", 1, 1) for i in found)

    async def bodies(self, ids: Sequence[EntryId]) -> dict[EntryId, StreamEntry | None]:
        self.bodies_asked += ids
        return {i: None if i in self.ghosts else StreamEntry(i, ((b"data", self.body),)) for i in ids}


def numbers(window: PendingWindow) -> list[int]:
    return [row.id.ms - 1 for row in window.rows]


async def test_it_loads_what_is_asked_for_and_walks_there_by_ids() -> None:
    rows = PendingList(5000)
    window = PendingWindow()
    await window.load(rows.look)
    assert numbers(window) == list(range(200))
    assert window.total(5000) == 5000
    window.move(2500, 200)
    assert window.total(5000) == 5000
    await window.load(rows.look)
    assert numbers(window) == list(range(2500, 2700))
    assert max(rows.asked) <= PAGE
    rows.asked.clear()
    await window.load(rows.look)  # a refresh knows the way
    assert rows.asked == [201]
    assert numbers(window) == list(range(2500, 2700))


async def test_a_jump_to_the_end_of_five_thousand_and_back() -> None:
    rows = PendingList(5000)
    window = PendingWindow()
    await window.load(rows.look)
    window.move(4800, 200)
    await window.load(rows.look)
    assert numbers(window) == list(range(4800, 5000))
    assert window.total(5000) == 5000
    window.move(0, 200)
    await window.load(rows.look)
    assert numbers(window) == list(range(200))


async def test_a_walk_that_is_not_there_yet_shows_no_rows_in_wrong_places() -> None:
    far = PAGE * (pending.MOST_PAGES + 2)
    rows = PendingList(far + 100)
    window = PendingWindow()
    await window.load(rows.look)
    window.move(far, 200)
    rows.asked.clear()
    await window.load(rows.look)
    assert len(rows.asked) == pending.MOST_PAGES
    assert window.rows == ()
    assert window.total(far + 100) == far + 100
    await window.load(rows.look)
    assert numbers(window) == list(range(far, far + 100))
    assert window.total(far + 100) == far + 100


async def test_a_list_that_became_shorter_than_its_place_shows_its_end() -> None:
    rows = PendingList(5000)
    window = PendingWindow()
    window.move(4000, 200)
    await window.load(rows.look)
    del rows.ids[1500:]
    await window.load(rows.look)
    assert window.offset + len(window.rows) == window.total(5000) == 1500
    assert numbers(window) == list(range(window.offset, 1500))
    del rows.ids[:]
    await window.load(rows.look)
    assert (window.offset, window.rows, window.total(1500)) == (0, (), 0)


async def test_when_the_head_is_acknowledged_nothing_jumps_and_the_end_stays_in_reach() -> None:
    rows = PendingList(5000)
    window = PendingWindow()
    window.move(2000, 200)
    await window.load(rows.look)
    del rows.ids[:1000]
    await window.load(rows.look)
    assert numbers(window) == list(range(2000, 2200))
    seen = set(numbers(window))
    total = window.total(len(rows.ids))
    for _ in range(100):  # as one who pages down to the end
        if window.offset + len(window.rows) >= total:
            break
        window.move(min(window.offset + 150, max(0, total - 200)), 200)
        await window.load(rows.look)
        seen |= set(numbers(window))
        total = window.total(len(rows.ids))
    assert seen == set(range(2000, 5000))


async def test_scrolling_up_after_the_head_was_acknowledged_counts_anew() -> None:
    rows = PendingList(5000)
    window = PendingWindow()
    window.move(3000, 200)
    await window.load(rows.look)
    del rows.ids[:1000]
    window.move(0, 200)
    await window.load(rows.look)
    assert numbers(window) == list(range(1000, 1200))
    window.move(3000, 200)
    await window.load(rows.look)
    assert numbers(window) == list(range(4000, 4200))


async def test_a_list_that_grows_shows_that_there_is_more() -> None:
    rows = PendingList(200)
    window = PendingWindow()
    await window.load(rows.look)
    assert window.total(200) == 200
    rows.ids += [EntryId(1000 + n, 0) for n in range(50)]
    await window.load(rows.look)
    assert window.total(200) > 200  # the count is of a moment ago
    assert window.total(250) == 250


async def test_forgetting_begins_at_the_head() -> None:
    rows = PendingList(5000)
    window = PendingWindow()
    window.move(3000, 200)
    await window.load(rows.look)
    window.forget()
    assert (window.offset, window.rows) == (0, ())
    other = PendingList(3)
    await window.load(other.look)
    assert numbers(window) == [0, 1, 2]
    assert window.total(5000) == 3


async def test_bodies_are_asked_for_once_and_kept_short() -> None:
    rows = PendingList(150)
    rows.body = b"x" * 1_000_000
    rows.ghosts = {rows.ids[7]}
    window = PendingWindow()
    await window.load(rows.look)
    rounds = 0
    while await window.load_bodies(rows.bodies):
        rounds += 1
    assert rounds == 2
    assert rows.bodies_asked == rows.ids
    assert window.bodies[rows.ids[7]] is None
    kept = window.bodies[rows.ids[0]]
    assert kept is not None
    assert len(kept.pairs[0][1]) == pending.MOST_BYTES
    await window.load(rows.look)
    assert not await window.load_bodies(rows.bodies)


async def test_the_memory_of_bodies_has_an_end() -> None:
    rows = PendingList(10_000)
    window = PendingWindow()
    for offset in range(0, 10_000, 200):
        window.move(offset, 200)
        await window.load(rows.look)
        while await window.load_bodies(rows.bodies):
            pass
        assert all(row.id in window.bodies for row in window.rows)
    assert len(window.bodies) <= pending.MOST_BODIES + 200
