"""What is unknown is `?`, what is worst comes first, and every time is the server's."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from echomq_console.diagnosis import diagnose
from echomq_console.model.dead_letter import DeadLetterEntry, Provenance
from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import ConsumerCondition, Finding, Health, Recovery, Severity, Thresholds
from echomq_console.model.snapshot import ConsumerState, GroupState, PendingEntry, Snapshot, Vanished
from echomq_console.observe.history import GroupRates, History
from echomq_console.present.consumers import consumers_view, delivery_histogram, idle_histogram
from echomq_console.present.dead_letters import dead_letters_view
from echomq_console.present.entry import provenance_text, whereabouts_text
from echomq_console.present.findings import finding_text, findings_text, folded, nothing_found
from echomq_console.present.group import group_header, tabs_line
from echomq_console.present.groups import group_lines, groups_view, summary_line, vanished_lines
from echomq_console.present.header import Link, header_view, trouble_line
from echomq_console.present.numbers import UNKNOWN, age_cell, ago, count_cell, rate_cell
from echomq_console.present.pending import pending_view
from echomq_console.present.states import ORDER, condition_sign, health_sign, severity_sign
from echomq_widgets.views import Cell, TableView

from .conftest import HOUR_MS, NOW_MS, group_of, snapshot_of, texts

T = Thresholds()


def _cells(view: TableView, row: int = 0) -> dict[str, Cell]:
    return {column.key: cell for column, cell in zip(view.columns, view.rows[row].cells, strict=True)}


def _groups(snapshot: Snapshot, *, sort: str | None = None, descending: bool = True) -> list[bytes]:
    view = groups_view(snapshot, diagnose(snapshot, (), T), sort=sort, descending=descending)
    return [row.key[0] for row in view.rows if isinstance(row.key, tuple)]


# -- unknown is not zero -----------------------------------------------------------------------------------------


def test_cells_of_the_unknown() -> None:
    assert count_cell(None) == rate_cell(None) == age_cell(None) == UNKNOWN
    assert UNKNOWN.text == "?"
    assert count_cell(0).text == "0"
    assert rate_cell(0.0).text == "0.0"
    assert age_cell(0).text == "0s"


def test_a_group_of_which_little_is_known() -> None:
    view = groups_view(snapshot_of(group_of(lag=None, scan=None)), ())
    cells = _cells(view)
    for column in ("lag", "idle", "deliveries", "in", "acked"):
        assert cells[column] == UNKNOWN, column
    assert cells["pending"].text == "3"


def test_a_group_that_was_not_read() -> None:
    group = group_of(consumers=(), scan=None, problem="not looked at yet")
    cells = _cells(groups_view(snapshot_of(group), ()))
    assert cells["consumers"] == UNKNOWN
    assert cells["health"].text == "? unknown"
    assert _cells(groups_view(snapshot_of(group_of(pending=0, consumers=())), ()))["consumers"].text == "none"


def test_nothing_pending_is_known_to_be_nothing() -> None:
    cells = _cells(groups_view(snapshot_of(group_of(pending=0, scan=None)), ()))
    assert (cells["pending"].text, cells["idle"].text, cells["deliveries"].text) == ("0", "0s", "0")


def test_a_consumer_of_which_little_is_known() -> None:
    """Before 7.2 nobody knows when it last tried; without a scan nobody knows what its rows are like."""
    old = ConsumerState(b"web-1", 3, 60_000, idle_is_last_try=False)
    group = group_of(consumers=(old,), scan=None)
    cells = _cells(consumers_view(snapshot_of(group), group, T))
    assert cells["tried"] == cells["oldest"] == cells["deliveries"] == cells["connection"] == UNKNOWN
    assert cells["got"].text == "1m 00s"
    never = group_of(consumers=(ConsumerState(b"web-1", 0, 5_000),))
    cells = _cells(consumers_view(snapshot_of(never), never, T))
    assert (cells["tried"].text, cells["got"].text) == ("5s", "never")
    assert (cells["oldest"].text, cells["deliveries"].text) == ("–", "–")


def test_a_lag_that_is_null_is_a_question_in_the_header_too() -> None:
    key = (b"orders", b"billing")
    assert "lag ? · " in [cell.text for cell in group_header(key, group_of(lag=None), (), NOW_MS).right]
    assert "lag 0 · " in [cell.text for cell in group_header(key, group_of(), (), NOW_MS).right]


def test_evidence_that_is_unknown_is_a_question() -> None:
    group = group_of(pending=0, scan=None, lag=None, last_delivered_id=EntryId(5, 0))
    (finding,) = diagnose(snapshot_of(group), (), T)
    assert finding.evidence["lag"] is None
    assert any("lag ? " in text for text in texts(finding_text(finding)))


def test_no_histogram_where_nothing_was_looked_at() -> None:
    assert idle_histogram(group_of(scan=None), T) is None
    assert delivery_histogram(group_of(scan=None), T) is None


def test_a_histogram_of_a_part_says_so() -> None:
    group = group_of()
    assert group.scan is not None
    part = idle_histogram(replace(group, scan=replace(group.scan, total=5_000)), T)
    whole = idle_histogram(group, T)
    assert part is not None
    assert whole is not None
    assert (part.title, whole.title) == ("idle of 3 of 5,000 pending", "idle of the 3 pending")


def test_the_body_of_a_row_that_is_not_here_yet() -> None:
    """A body that was not fetched yet is no ghost."""
    row = PendingEntry(EntryId(1, 0), b"web-1", 5_000, 1)
    assert _cells(pending_view([row], {}, NOW_MS, 1))["payload"].text == "…"
    assert "ghost" in _cells(pending_view([row], {row.id: None}, NOW_MS, 1))["payload"].text


def test_nothing_found_is_good_news_only_where_it_was_looked_at() -> None:
    assert nothing_found(group_of())[1].text == "Nothing is stuck here."
    assert "Not known: no permission" in "".join(texts(nothing_found(group_of(problem="no permission"))))
    assert "not on the server any more" in "".join(texts(nothing_found(None)))


# -- worst first -------------------------------------------------------------------------------------------------


def _mixed() -> Snapshot:
    """Groups of each kind, in an order of names that is not the order of their health."""
    return snapshot_of(
        group_of(b"a-well", pending=0, idle_ms=1_000),
        group_of(b"b-unknown", pending=0, consumers=(), scan=None, problem="no permission"),
        group_of(b"c-silent", consumers=(ConsumerState(b"web-1", 3, HOUR_MS, idle_is_last_try=False),)),
        group_of(b"d-gone", idle_ms=HOUR_MS),
        group_of(b"e-gone-longer", idle_ms=2 * HOUR_MS),
    )


def test_worst_first_and_within_that_the_longest_idle() -> None:
    assert _groups(_mixed()) == [b"e-gone-longer", b"d-gone", b"c-silent", b"b-unknown", b"a-well"]
    assert ORDER[0] is Health.CRITICAL
    assert ORDER[-1] is Health.WELL
    assert set(ORDER) == set(Health)


def test_groups_that_are_well_stand_by_name() -> None:
    """Their idle times come and go: rows must not dance."""
    well = [group_of(name, pending=2, idle_ms=idle) for name, idle in ((b"b", 9_000), (b"a", 1_000), (b"c", 90))]
    assert _groups(snapshot_of(*well)) == [b"a", b"b", b"c"]


def test_consumers_not_seen_come_first() -> None:
    group = group_of(
        consumers=(
            ConsumerState(b"quiet", 0, HOUR_MS),
            ConsumerState(b"reading", 9, 10),
            ConsumerState(b"web-1", 3, HOUR_MS),
        )
    )
    view = consumers_view(snapshot_of(group), group, T)
    assert [row.key for row in view.rows] == [b"web-1", b"reading", b"quiet"]
    assert [row.cells[1].text for row in view.rows] == ["✕ gone", "● reading", "○ quiet"]


def test_the_summary_counts_by_health() -> None:
    snapshot = _mixed()
    text = "".join(texts(summary_line(snapshot, diagnose(snapshot, (), T))))
    assert text.startswith("5 groups · 5 streams   ▲ 2 stuck   ◆ 1 look   ? 1 unknown   ● 1 well")
    one = "".join(texts(summary_line(snapshot_of(group_of(pending=0, idle_ms=0)), ())))
    assert one.startswith("1 group · 1 stream ")


@pytest.mark.parametrize("column", ["lag", "idle", "deliveries"])
def test_what_is_unknown_sorts_below_everything_known(column: str) -> None:
    def group(name: bytes, value: int | None) -> GroupState:
        if column == "lag":
            return group_of(name, lag=value)
        if value is None:
            return group_of(name, scan=None)
        if value == 0:
            return group_of(name, pending=0)
        return group_of(name, idle_ms=value * 1_000) if column == "idle" else group_of(name, deliveries=value)

    snapshot = snapshot_of(group(b"none", 0), group(b"unknown", None), group(b"many", 9), group(b"few", 2))
    assert _groups(snapshot, sort=column) == [b"many", b"few", b"none", b"unknown"]
    assert _groups(snapshot, sort=column, descending=False) == [b"unknown", b"none", b"few", b"many"]


@pytest.mark.parametrize("column", ["in", "acked"])
def test_rates_that_are_unknown_sort_below_none(column: str) -> None:
    class Rates(History):
        def rates(self, key: tuple[bytes, bytes], *, window_ms: int = 0) -> GroupRates:
            value = {b"some": 2.5, b"none": 0.0, b"unknown": None}[key[0]]
            return GroupRates(value, value, value)

    snapshot = snapshot_of(*(group_of(name) for name in (b"none", b"unknown", b"some")))
    view = groups_view(snapshot, (), Rates(), sort=column)
    assert [row.key for row in view.rows] == [(name, b"billing") for name in (b"some", b"none", b"unknown")]
    assert [_cells(view, row)[column].text for row in range(3)] == ["2.5", "0.0", "?"]


def test_every_sortable_column_sorts() -> None:
    snapshot = _mixed()
    for column in groups_view(snapshot, ()).columns:
        if column.sortable:
            assert sorted(_groups(snapshot, sort=column.key)) == sorted(_groups(snapshot)), column.key
            assert groups_view(snapshot, (), sort=column.key).sort == column.key
    assert _groups(snapshot, sort="pending")[-1] in {b"a-well", b"b-unknown"}
    assert _groups(snapshot, sort="group", descending=False)[0] == b"a-well"
    assert _groups(snapshot, sort="health")[0] in {b"d-gone", b"e-gone-longer"}


def test_a_filter_that_hides_all_says_so() -> None:
    view = groups_view(_mixed(), (), keep=lambda _line: False)
    assert view.empty[0].text == "no group matches the filter"
    assert groups_view(snapshot_of(), ()).empty[0].text == "no streams here yet"


def test_findings_stand_with_their_own_group() -> None:
    snapshot = _mixed()
    lines = group_lines(snapshot, diagnose(snapshot, (), T))
    assert {line.key[0]: [finding.rule for finding in line.findings] for line in lines}[b"d-gone"] == ["gone"]
    assert all(finding.stream == line.key[0] for line in lines for finding in line.findings)


# -- a state never rests on its colour ---------------------------------------------------------------------------


def test_every_state_has_a_sign_and_a_word_of_its_own() -> None:
    for signs in (
        [health_sign(health) for health in Health],
        [condition_sign(condition) for condition in ConsumerCondition],
    ):
        assert all(sign.sign and sign.word and not sign.word.isspace() for sign in signs)
        assert len({(sign.sign, sign.word) for sign in signs}) == len(signs)
        assert all(sign.cell().text == f"{sign.sign} {sign.word}" for sign in signs)
    assert len({severity_sign(severity).sign for severity in Severity}) == len(Severity)


def test_the_worst_finding_gives_the_word() -> None:
    def finding(rule: str, severity: Severity) -> Finding:
        return Finding(rule, severity, b"s", b"g", None, "x", {}, "x", (), Recovery("", ""))

    poison, ghosts = finding("poison", Severity.CRITICAL), finding("ghosts", Severity.WARNING)
    assert health_sign(Health.CRITICAL, [ghosts, poison]).cell().text == "▲ poison"
    assert health_sign(Health.WARNING, [ghosts]).cell().text == "◆ ghosts"
    assert health_sign(Health.CRITICAL, [finding("gone", Severity.CRITICAL)]).cell().text == "▲ stuck"
    assert health_sign(Health.WELL, [poison]).cell().text == "● well"


def test_findings_name_their_rule_and_their_key() -> None:
    found = diagnose(snapshot_of(group_of()), (), T)
    text = "\n".join(texts(findings_text("orders › billing", found, nothing_found(None))))
    assert "▲ gone: " in text
    assert " A " in text
    assert " autoclaim…" in text
    quiet = "\n".join(texts(findings_text("orders › billing", found, nothing_found(None), keys=False)))
    assert " autoclaim…" not in quiet
    line = folded(found * 3, nothing_found(None), 200)
    assert "(+2 more)" in "".join(cell.text for cell in line.left)


def test_the_chosen_tab_shows_without_colour() -> None:
    said = [cell.text for cell in tabs_line("dead", {"dead": 3, "pending": 1_204}, None).left]
    assert "[Dead letters 3]" in said
    assert " Pending 1,204 " in said


# -- times are the server's --------------------------------------------------------------------------------------


def _all_ages() -> list[str]:
    """Every text with an age in it."""
    snapshot = replace(_mixed(), vanished=(Vanished(b"old", None, NOW_MS - 60_000),))
    found = diagnose(snapshot, (), T)
    group = group_of()
    branded = EntryId(NOW_MS - 90_000, 0)
    row = PendingEntry(branded, b"web-1", 400_000, 1)
    said = Provenance(b"orders", b"billing", branded, b"web-1", 5, 1000, b"declined", b"ana", NOW_MS - 60_000)
    views = [
        groups_view(snapshot, found),
        summary_line(snapshot, found),
        vanished_lines(snapshot),
        consumers_view(snapshot_of(group), group, T),
        pending_view([row], {branded: StreamEntry(branded, ())}, NOW_MS, 1),
        dead_letters_view([DeadLetterEntry(branded, (), said)], NOW_MS),
        whereabouts_text(branded, (), [], NOW_MS),
        provenance_text(branded, said, NOW_MS),
        group_header((b"orders", b"billing"), group, (), NOW_MS),
        [finding_text(finding) for finding in found],
        header_view(Link("x", picture_age_ms=2_000), T, read_only=False),
    ]
    return list(texts(views))


def test_this_machines_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _all_ages()
    clock = time.time()
    monkeypatch.setattr(time, "time", lambda: clock + 3_600)
    monkeypatch.setattr(time, "time_ns", lambda: int((clock + 3_600) * 1e9))
    assert _all_ages() == before
    text = "\n".join(before)
    assert "2h 00m" in text
    assert "1m 30s ago" in text


def test_no_view_reads_a_clock() -> None:
    """A clock that is read is an age that is not the server's."""
    from pathlib import Path

    import echomq_console.present

    sources = [file.read_text() for folder in echomq_console.present.__path__ for file in Path(folder).glob("*.py")]
    assert len(sources) > 10
    assert not any(re.search(r"\bimport time\b|\.now\(|\.utcnow\(|\.today\(", source) for source in sources)


def test_a_moment_that_has_not_come_is_ahead() -> None:
    assert ago(NOW_MS, NOW_MS - 14 * 60_000 - 2_000) == "14m 02s ago"
    assert ago(NOW_MS, NOW_MS + 5_000) == "5s ahead"
    header = group_header((b"s", b"g"), group_of(last_delivered_id=EntryId(NOW_MS + 5, 0)), (), NOW_MS)
    assert "ago" not in "".join(texts(header))


# -- the way to the server ---------------------------------------------------------------------------------------


def test_an_old_picture_is_loud() -> None:
    def said(age_ms: int | None, error: str | None = None) -> str:
        return "".join(texts(header_view(Link("x", picture_age_ms=age_ms, error=error), T, read_only=False).right))

    assert "picture 4s old" in said(4_999)
    assert "▲" not in said(4_999)
    assert "▲ picture 10m 00s old" in said(600_000)
    assert "connecting…" in said(None)
    assert "no picture yet" in said(None, "refused")


def test_read_only_and_the_threshold_are_in_sight() -> None:
    line = header_view(Link("x"), Thresholds(job_ms=5_000), read_only=True)
    text = "".join(texts(line.right))
    assert "T 5s · " in text
    assert "READ-ONLY" in text
    assert "READ-ONLY" not in "".join(texts(header_view(Link("x"), T, read_only=False)))


def test_trouble_says_how_old_the_picture_is() -> None:
    line = trouble_line(Link("x", picture_age_ms=600_000, error="x cannot be reached"))
    assert line is not None
    text = "".join(texts(line))
    assert "x cannot be reached" in text
    assert "this picture is 10m 00s old" in text
    assert "trying again" in text
    more = trouble_line(Link("x", problems=("one", "two", "three")))
    assert more is not None
    assert "one   (+2 more)" in "".join(texts(more))
    assert trouble_line(Link("x")) is None
