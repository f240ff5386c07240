"""The checker, on histories in which one thing is wrong. What finds nothing in a bad history proves nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from tests.chaos.checker import FORBIDDEN, MARKED, MEANING, Dead, Event, History, check


@dataclass
class Story:
    """A history under construction; at first a good one: a plain entry, one that failed once, one of each marked."""

    added: dict[int, str] = field(
        default_factory=lambda: {0: "plain", 1: "fail", 2: "poison", 3: "killer", 4: "refused"}
    )
    confirmed: set[int] = field(default_factory=lambda: {0, 1, 2, 3, 4})
    present: set[int] = field(default_factory=lambda: {0, 1, 2, 3, 4})
    events: list[Event] = field(default_factory=list)
    pending: set[int] = field(default_factory=set)
    dead: list[Dead] = field(default_factory=lambda: [Dead(2, 3), Dead(3, 3), Dead(4, 1)])

    def __post_init__(self) -> None:
        self.run(0, 1, "ok")
        self.run(1, 1, "error")
        self.run(1, 2, "ok")
        for attempts in (1, 2, 3):
            self.run(2, attempts, "error")
            self.run(3, attempts, "", who=f"c{attempts}")
        self.run(4, 1, "error")
        self.events += [Event("acknowledged", n, 0, "c1") for n in (0, 1)]

    def run(self, n: int, attempts: int, end: str, who: str = "c1") -> None:
        """A handler begins; it answers `ok` or `error`, or nothing: its process was killed."""
        self.events.append(Event("begin", n, attempts, who))
        if end:
            self.events.append(Event(end, n, attempts, who))

    def found(self) -> dict[str, set[int]]:
        """What the checker finds, without what it finds nothing of."""
        history = History(self.added, self.confirmed, self.present, self.events, self.pending, self.dead, limit=3)
        return {name: set(ns) for name, ns in check(history).found.items() if ns}


def test_a_good_history() -> None:
    assert Story().found() == {}


def test_every_word_has_a_meaning() -> None:
    history = History({}, set(), set(), [], set(), [], limit=3)
    verdict = check(history)
    assert set(verdict.found) == set(MEANING) == set(verdict.counts)
    assert set(FORBIDDEN) <= set(MEANING)
    assert verdict.violations == {}


def test_numbers_of_handlers() -> None:
    story = Story()
    history = History(story.added, story.confirmed, story.present, story.events, set(), story.dead, limit=3)
    assert (check(history).begun, check(history).handled) == (10, 2)


@pytest.mark.parametrize("known", ["confirmed", "present"])
def test_lost(known: str) -> None:
    """Added, and never heard of again: also where only the server, or only the producer, knows of it."""
    story = Story(added=Story().added | {9: "plain"})
    getattr(story, known).add(9)
    assert story.found()["lost"] == {9}


def test_lost_after_it_began() -> None:
    story = Story(added=Story().added | {9: "plain"})
    story.confirmed.add(9)
    story.present.add(9)
    story.run(9, 1, "")
    assert story.found() == {"lost": {9}}


def test_lost_when_the_handler_failed() -> None:
    """An acknowledgement after an `Error` loses the entry as surely."""
    story = Story(added=Story().added | {9: "plain"})
    story.confirmed.add(9)
    story.present.add(9)
    story.run(9, 1, "error")
    story.events.append(Event("acknowledged", 9, 0, "c1"))
    assert story.found() == {"lost": {9}, "silent": {9}}


def test_a_marked_entry_can_be_lost_too() -> None:
    story = Story()
    story.dead = story.dead[1:]
    assert story.found() == {"lost": {2}}


def test_not_lost_where_the_server_never_had_it() -> None:
    story = Story(added=Story().added | {9: "plain"})
    assert story.found() == {}


@pytest.mark.parametrize("what", ["begin", "ok", "acknowledged"])
def test_unexpected(what: str) -> None:
    story = Story()
    story.events.append(Event(what, 9, 1, "c1"))
    assert 9 in story.found()["unexpected"]


def test_unexpected_dead_letter() -> None:
    story = Story()
    story.dead.append(Dead(9, 3))
    assert story.found() == {"unexpected": {9}}


def test_unsettled() -> None:
    story = Story(added=Story().added | {9: "plain"}, pending={9})
    story.confirmed.add(9)
    story.present.add(9)
    assert story.found() == {"unsettled": {9}}


def test_dead_twice() -> None:
    story = Story()
    story.dead.append(Dead(2, 3))
    assert story.found() == {"dead_twice": {2}}


def test_dead_with_other_fields() -> None:
    story = Story()
    story.dead[0] = Dead(2, 3, intact=False)
    assert story.found() == {"dead_changed": {2}}


@pytest.mark.parametrize("kind", ["plain", "slow", "fail"])
def test_bystander(kind: str) -> None:
    story = Story(added=Story().added | {9: kind})
    story.dead.append(Dead(9, 3))
    assert story.found() == {"bystanders": {9}}


@pytest.mark.parametrize("kind", sorted(MARKED))
def test_what_is_marked_is_no_bystander(kind: str) -> None:
    story = Story(added=Story().added | {9: kind})
    story.dead.append(Dead(9, 3))
    assert story.found() == {}


def test_dead_early() -> None:
    story = Story()
    story.dead[0] = Dead(2, 2)
    assert story.found() == {"dead_early": {2}}


def test_past_the_limit() -> None:
    story = Story()
    story.run(2, 4, "error")
    assert story.found() == {"past_limit": {2}}


@pytest.mark.parametrize(("attempts", "word"), [(1, "first_twice"), (2, "uncounted"), (3, "uncounted")])
def test_uncounted(attempts: int, word: str) -> None:
    story = Story()
    story.run(2, attempts, "error", who="c2")
    assert story.found() == {word: {2}}


def test_uncounted_is_found_where_other_deliveries_were_counted_in_vain() -> None:
    story = Story(added=Story().added | {9: "fail"})
    for known in (story.confirmed, story.present):
        known.add(9)
    story.run(9, 3, "error")
    story.run(9, 3, "ok")
    assert story.found() == {"uncounted": {9}, "recovered": {9}}


def test_overcounted_is_what_two_crashes_do_not_explain() -> None:
    story = Story(added=Story().added | {8: "plain", 9: "plain"})
    story.run(8, 3, "ok")
    story.run(9, 4, "ok")
    assert story.found() == {"recovered": {8, 9}, "overcounted": {9}, "past_limit": {9}}


def test_doubled() -> None:
    story = Story(added=Story().added | {9: "plain"})
    story.run(9, 1, "", who="c7")
    story.run(9, 2, "ok", who="c7")
    assert story.found() == {"doubled": {9}}


def test_one_after_the_other_and_two_processes_at_once_are_not_doubled() -> None:
    story = Story(added=Story().added | {9: "plain"})
    story.run(9, 1, "error", who="c7")
    story.run(9, 2, "", who="c7")
    story.run(9, 3, "ok", who="c8")
    assert story.found() == {"recovered": {9}}


def test_duplicated_is_found_and_not_forbidden() -> None:
    story = Story()
    story.run(0, 2, "ok", who="c2")
    assert story.found() == {"duplicated": {0}}
    assert "duplicated" not in FORBIDDEN


@pytest.mark.parametrize("how", ["crash", "claim", "never begun"])
def test_recovered(how: str) -> None:
    story = Story(added=Story().added | {9: "plain"})
    if how == "crash":
        story.run(9, 1, "", who="c7")
    elif how == "claim":
        story.events += [Event("claimed", 9, 0, "c1"), Event("begin", 9, 1, "c1")]
    story.run(9, 2, "ok", who="c2")
    assert story.found() == {"recovered": {9}}


def test_indeterminate() -> None:
    """The producer never heard that it was added. It was, and it was handled."""
    story = Story(added=Story().added | {9: "plain"})
    story.present.add(9)
    story.run(9, 1, "ok")
    assert story.found() == {"indeterminate": {9}}


def test_what_is_no_event_is_refused() -> None:
    story = Story()
    story.events.append(Event("began", 0, 1, "c1"))
    with pytest.raises(ValueError, match="not an event"):
        story.found()
