"""Whatever a server holds: each view shows something that does nothing, has an end, and can be told apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from echomq_console.actions.shell import spelled
from echomq_console.actions.tally import Tally
from echomq_console.diagnosis import diagnose
from echomq_console.engine.events import DeadLettered, DeadLetterFailed, Failed
from echomq_console.model.action import Options, Outcome, Plan, Progress, Skipped, Target
from echomq_console.model.dead_letter import DeadLetterEntry, Provenance
from echomq_console.model.entry import Pairs, StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Finding, Thresholds
from echomq_console.model.snapshot import ConsumerState, PendingEntry, ServerIdentity, Vanished
from echomq_console.observe.look import Holding, Standing
from echomq_console.present.consumers import consumers_view, delivery_histogram, idle_histogram
from echomq_console.present.dead_letters import dead_letters_view
from echomq_console.present.entry import pairs_text, provenance_text, whereabouts_text
from echomq_console.present.findings import finding_text, findings_text, folded, nothing_found
from echomq_console.present.group import group_header, tabs_line
from echomq_console.present.groups import groups_view, summary_line, vanished_lines
from echomq_console.present.header import Link, header_view, trouble_line
from echomq_console.present.names import group_label, stream_label
from echomq_console.present.pending import pending_view, preview
from echomq_console.present.plans import outcome_lines, plan_view, progress_view

from .conftest import NOW_MS, group_of, snapshot_of, texts
from .corpus import HOSTILE, harm_in, require_harmless

T = Thresholds()
ID = EntryId(NOW_MS - 5_000, 0)


@cache
def _findings(stream: bytes = b"orders", group: bytes = b"billing", consumer: bytes = b"web-1") -> list[Finding]:
    """Every rule's findings over groups with these names."""
    gone = group_of(stream, group, consumer)
    silent = replace(gone, consumers=(replace(gone.consumers[0], idle_is_last_try=False),))
    undrained = replace(gone, consumers=(replace(gone.consumers[0], idle_ms=1_000),))
    poison = group_of(stream, group, consumer, deliveries=9)
    assert gone.scan is not None
    ghosts = replace(gone, scan=replace(gone.scan, ghosts=tuple(EntryId(1, n) for n in range(100)), ghost_count=100))
    stalled = replace(gone, pending=0, scan=None, lag=5, last_delivered_id=EntryId(5, 0))
    found = [
        finding
        for each in (gone, silent, undrained, poison, ghosts, stalled)
        for finding in diagnose(snapshot_of(each), (), T)
    ]
    assert {finding.rule for finding in found} >= {"gone", "silent", "undrained", "poison", "ghosts", "stalled"}
    return found


def _plan(stream: bytes = b"orders", group: bytes = b"billing", consumer: bytes = b"web-1") -> Plan:
    return Plan(
        action="drain",
        target=Target(stream, group, consumer),
        options=Options(handler="billing:handle"),
        actor="ana@bastion",
        count=1,
        exact=True,
        sample=(PendingEntry(ID, consumer, 400_000, 2),),
        owners={consumer: 1},
        effects=(),
        untouched=(),
        reassurances=(),
        warnings=(),
        commands=(spelled("XACK", stream, group, "<id>"), spelled("XPENDING", stream, group, "-", "+", 100, consumer)),
        needs_count=False,
    )


def _outcome(text: str) -> Outcome:
    return Outcome("drain", b"s", b"g", 1, 1, 1, ("1-0",), (Skipped("2-0", text),), (Skipped("3-0", text),), "a", 0.1)


def _letter(pairs: Pairs = ((b"n", b"1"),), **changed: bytes) -> DeadLetterEntry:
    said = {"stream": b"orders", "group": b"billing", "consumer": b"web-1", "reason": b"declined", "by": b"ana@bastion"}
    said |= changed
    block = Provenance(
        said["stream"], said["group"], ID, said["consumer"], 5, 1000, said["reason"], said["by"], NOW_MS - 60_000
    )
    return DeadLetterEntry(ID, pairs, block)


def _pending(body: Pairs, consumer: bytes = b"web-1") -> object:
    rows = [PendingEntry(ID, consumer, 400_000, 2)]
    return pending_view(rows, {ID: StreamEntry(ID, body)}, NOW_MS, 1)


def _told(text: str) -> tuple[str, ...]:
    """The lines a run's log shows of events that quote a text."""
    told: list[Progress] = []
    tally = Tally(1, told.append)
    for event in (
        Failed("1-0", 2, text),
        DeadLettered("1-0", "2-0", 2, text),
        DeadLetterFailed("1-0", "declined", text),
    ):
        tally.listen(event)
    return tuple(progress.line for progress in told)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


NOTHING = nothing_found(group_of())
Show = Callable[[bytes], object]
NAMES: dict[str, Show] = {
    "groups, stream": lambda n: groups_view(snapshot_of(group_of(n)), _findings(n)),
    "groups, group": lambda n: groups_view(snapshot_of(group_of(name=n)), ()),
    "groups, EchoMQ queue and stream": lambda n: groups_view(snapshot_of(group_of(b"emq:{q}:stream:" + n)), ()),
    "consumers": lambda n: consumers_view(snapshot_of(group_of(consumer=n)), group_of(consumer=n), T),
    "consumers, connection": lambda n: consumers_view(
        snapshot_of(), group_of(consumers=(ConsumerState(b"c", 1, 5, connections=(_text(n),)),)), T
    ),
    "pending, owner": lambda n: _pending(((b"n", b"1"),), n),
    "pending, value": lambda n: _pending(((b"n", n),)),
    "pending, field and value": lambda n: _pending(((n, b"1"), (b"n", n))),
    "dead letters, group": lambda n: dead_letters_view([_letter(group=n)], NOW_MS),
    "dead letters, owner": lambda n: dead_letters_view([_letter(consumer=n)], NOW_MS),
    "dead letters, reason": lambda n: dead_letters_view([_letter(reason=n)], NOW_MS),
    "dead letters, by": lambda n: dead_letters_view([_letter(by=n)], NOW_MS),
    "dead letters, value": lambda n: dead_letters_view([_letter(((b"n", n),))], NOW_MS),
    "findings": lambda n: findings_text(group_label(n, n), _findings(n, n, n), NOTHING),
    "a finding, stream": lambda n: [finding_text(each) for each in _findings(stream=n)],
    "a finding, consumer": lambda n: [finding_text(each) for each in _findings(consumer=n)],
    "a folded finding": lambda n: folded(_findings(consumer=n), NOTHING, 300),
    "a plan, stream": lambda n: plan_view(_plan(stream=n)),
    "a plan, group": lambda n: plan_view(_plan(group=n)),
    "a plan, consumer": lambda n: plan_view(_plan(consumer=n)),
    "an outcome": lambda n: outcome_lines(_outcome(_text(n))),
    "progress, target": lambda n: progress_view(_plan(stream=n), Progress(0, 0, 0, 0, 1)),
    "progress, log": lambda n: progress_view(_plan(), Progress(0, 0, 0, 0, 1), _told(_text(n))),
    "header, address": lambda n: header_view(Link(_text(n)), T, read_only=True),
    "header, product": lambda n: header_view(
        Link("x", ServerIdentity("x", _text(n), (9,), _text(n))), T, read_only=False
    ),
    "group header": lambda n: group_header((n, n), group_of(n, n), (), NOW_MS),
    "group header, gone": lambda n: group_header((b"orders", n), None, (), NOW_MS),
    "tabs": lambda n: tabs_line("pending", {"pending": 5}, n),
    "vanished": lambda n: vanished_lines(
        snapshot_of(vanished=(Vanished(n, b"g", NOW_MS), Vanished(b"s" + n, None, NOW_MS)))
    ),
    "pairs, field": lambda n: pairs_text(((n, b"1"),)),
    "pairs, value": lambda n: pairs_text(((b"n", n),)),
    "whereabouts": lambda n: whereabouts_text(
        ID,
        ((b"id", n),),
        [
            Holding(n, Standing.PENDING, PendingEntry(ID, n, 5, 1)),
            Holding(n, Standing.ACKNOWLEDGED),
            Holding(n, Standing.NOT_DELIVERED),
        ],
        NOW_MS,
    ),
    "provenance, stream": lambda n: provenance_text(ID, _letter(stream=n).provenance, NOW_MS),
    "provenance, group": lambda n: provenance_text(ID, _letter(group=n).provenance, NOW_MS),
    "provenance, owner": lambda n: provenance_text(ID, _letter(consumer=n).provenance, NOW_MS),
    "provenance, reason": lambda n: provenance_text(ID, _letter(reason=n).provenance, NOW_MS),
    "provenance, by": lambda n: provenance_text(ID, _letter(by=n).provenance, NOW_MS),
}
"""Views of a name or a value."""

SENTENCES: dict[str, Show] = {
    "trouble, error": lambda n: trouble_line(Link("x", error=_text(n))),
    "trouble, problem": lambda n: trouble_line(Link("x", problems=(_text(n), "another"))),
    "consumers, problem": lambda n: consumers_view(snapshot_of(), group_of(consumers=(), problem=_text(n)), T),
    "nothing found, problem": lambda n: nothing_found(group_of(problem=_text(n))),
    "an outcome, error": lambda n: outcome_lines(replace(_outcome("x"), error=_text(n))),
    "progress, log": lambda n: progress_view(_plan(), Progress(0, 0, 0, 0, 1), (_text(n),)),
}
"""Views of a sentence that may quote a name. Names in it are harmless already, so backslashes are not doubled."""


@pytest.mark.parametrize("name", list(HOSTILE.values()), ids=list(HOSTILE))
@pytest.mark.parametrize("show", list((NAMES | SENTENCES).values()), ids=list(NAMES | SENTENCES))
def test_does_nothing_and_has_an_end(show: Show, name: bytes) -> None:
    said = list(texts(show(name)))
    assert said
    require_harmless(said)


@pytest.mark.parametrize("show", list(NAMES.values()), ids=list(NAMES))
def test_two_names_never_look_the_same(show: Show) -> None:
    shown: dict[tuple[str, ...], str] = {}
    for kind, name in HOSTILE.items():
        said = tuple(texts(show(name)))
        assert said not in shown, (kind, shown[said])
        shown[said] = kind


def test_the_corpus_does_something() -> None:
    """What the other tests are worth: shown as they are, most of these names would be caught."""
    caught = [kind for kind, name in HOSTILE.items() if harm_in(_text(name))]
    assert len(caught) >= 13
    with pytest.raises(AssertionError):
        require_harmless(["a\x1bb"])
    with pytest.raises(AssertionError):
        require_harmless(["x" * 10_000])


def test_labels_say_which_of_two_streams_it_is() -> None:
    """A plain key, a queue and a group may be spelled so that they look like another pair."""
    keys = (
        b"emq:{orders}:stream:events",
        b"orders/events",
        b"'orders/events'",
        b"emq:{'orders}:stream:events'",
        b"emq:{a/b}:stream:c",
        b"emq:{a}:stream:b/c",
        b"a/b/c",
        b"emq:{orders}:stream:",
        b"emq:{}:stream:events",
    )
    labels = [stream_label(key) for key in keys]
    assert len(set(labels)) == len(keys), labels
    assert labels[0] == "orders/events"
    assert stream_label(b"orders") == "orders"
    pairs = ((b"a", "b › c".encode()), ("a › b".encode(), b"c"), (b"a", b"c"), (b"a", b"\\u203a c"))
    assert len({group_label(*pair) for pair in pairs}) == len(pairs)
    assert group_label(keys[0], b"billing") == "orders/events › billing"


def test_a_sentence_keeps_a_name_as_it_was_shown() -> None:
    line = trouble_line(Link("x", error=r"no stream '\x1b[2J' here"))
    assert line is not None
    assert line[0].text == r"✕ no stream '\x1b[2J' here"


def test_a_command_too_long_for_a_screen_says_so() -> None:
    commands = plan_view(_plan(stream=b"x" * 10_000)).commands
    assert all("… (cut: 10,0" in command for command in commands)
    assert plan_view(_plan()).commands == ("XACK orders billing <id>", "XPENDING orders billing - + 100 web-1")


def test_a_preview_never_cuts_an_escape_in_two() -> None:
    pairs: Pairs = tuple((b"n" * number * 6, b"\x1b" * number) for number in range(1, 9))
    for limit in range(1, 120):
        shown = preview(pairs, limit)
        assert len(shown) <= limit + len(" …")
        kept = shown.replace(r"\x1b", "")
        assert "\\" not in kept, shown


def test_a_preview_says_that_there_is_more() -> None:
    few: Pairs = tuple((b"n%d" % number, b"1") for number in range(8))
    assert not preview(few).endswith("…")
    assert preview((*few, (b"n8", b"1"))).endswith("…")
    assert preview(((b"id", b"USR0KHTOWnGLuC"), (b"total", b"5"))) == "5"
    assert preview(((b"id", b"no branded id"), (b"total", b"5"))) == "id=no branded id total=5"


def test_numbers_no_server_counts_have_an_end() -> None:
    """A dead letter may hold any number of digits."""
    huge = 10**4000
    for number in (huge, -huge):
        said = replace(_letter().provenance, attempts=number, idle_ms=number, at_ms=number)
        letter = replace(_letter(), provenance=said)
        require_harmless(texts(dead_letters_view([letter], NOW_MS)))
        require_harmless(texts(provenance_text(ID, said, NOW_MS)))
        assert max(map(len, texts(provenance_text(ID, said, NOW_MS)))) < 200


def test_histograms_are_plain() -> None:
    group = group_of(consumer=b"\x1b")
    require_harmless(texts([idle_histogram(group, T), delivery_histogram(group, T)]))
    require_harmless(texts(summary_line(snapshot_of(group), _findings(consumer=b"\x1b"))))
