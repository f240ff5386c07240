"""The commands that look: their documents, their words, their exit statuses; looking changes nothing."""

from __future__ import annotations

import os
from typing import Any

import pytest
from redis import Redis

from echomq_console.cli.aim import aim_of, connected
from echomq_console.cli.options import Root
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import ReadOnly

from .conftest import Command, Stuck

HOSTILE = (
    b"[/x]",
    b"[b +",
    b"\x1b",
    b"\x1b]52;c;aGk=\x07",
    b"\x1b]0;owned\x07",
    b"\x1b[2J",
    b"\xc2\x9b2J",
    "a\u202eb".encode(),
    "a\u200db".encode(),
    b"\xff\xfe",
    b"a\nb\rc\td",
    b"-",
)


def harmless_text(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


def test_groups_as_json(command: Command, stuck: Stuck) -> None:
    stuck.add(3, deliveries=2)
    stuck.server.execute_command("XADD", stuck.stream, "*", "f", "v")
    document = command("groups", "--json", "--url", _own(stuck)).document
    assert set(document) == {"schema", "taken_at", "server", "problems", "groups"}
    assert document["schema"] == "echomq-console/groups/1"
    assert document["taken_at"].endswith("Z")
    assert set(document["server"]) == {"address", "product", "version", "role"}
    assert document["server"]["product"] == "valkey"
    (group,) = [g for g in document["groups"] if g["stream"] == stuck.stream.decode()]
    assert list(group) == [
        *("stream", "group", "length", "pending", "lag", "entries_read", "last_delivered_id", "consumers"),
        *("longest_idle_ms", "max_delivery_count", "health", "findings", "scan"),
    ]
    idle = group.pop("longest_idle_ms")
    assert 600_000 <= idle < 700_000
    assert group == {
        "stream": stuck.stream.decode(),
        "group": "g",
        "length": 4,
        "pending": 3,
        "lag": 1,
        "entries_read": 3,
        "last_delivered_id": stuck.rows()[-1][0],
        "consumers": 1,
        "max_delivery_count": 2,
        "health": "critical",
        "findings": ["undrained"],
        "scan": {"rows": 3, "of": 3, "complete": True},
    }


def _own(stuck: Stuck) -> str:
    kwargs = stuck.server.get_connection_kwargs()
    return f"redis://127.0.0.1:{kwargs['port']}"


def test_what_the_server_does_not_know_is_null(command: Command, server: Any, stream: bytes) -> None:
    for _ in range(3):
        server.execute_command("XADD", stream, "*", "f", "v")
    server.xgroup_create(stream, "late", "$")
    server.execute_command("XADD", stream, "*", "f", "v")
    (group,) = command("groups", "--json").document["groups"]
    assert group["lag"] is None
    assert group["entries_read"] is None
    assert group["longest_idle_ms"] == 0
    assert "?" in command("groups").out


@pytest.fixture(autouse=True)
def _no_other_streams(server: Any) -> None:
    """These tests read all groups; nobody else uses this worker's server meanwhile."""
    for key in server.scan_iter(_type="stream"):
        server.delete(key)


def test_long_lists_are_counted_through_within_bounds(
    command: Command, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck.add(2500)
    (group,) = command("groups", "--json").document["groups"]
    assert group["scan"] == {"rows": 2500, "of": 2500, "complete": True}
    monkeypatch.setattr("echomq_console.cli.looking.MOST_POLLS", 2)
    (group,) = command("groups", "--json").document["groups"]
    assert group["scan"] == {"rows": 2000, "of": 2500, "complete": False}
    assert group["pending"] == 2500


def test_consumers_as_json(command: Command, stuck: Stuck) -> None:
    stuck.add(2)
    stuck.server.execute_command("XGROUP", "CREATECONSUMER", stuck.stream, "g", b"\xff")
    document = command("consumers", *stuck.names, "--json").document
    rows = {str(row["name"]): row for row in document["consumers"]}
    web, other = rows["web-1"], rows["{'base64': '/w=='}"]
    assert list(web) == ["stream", "group", "name", "pending", "idle_ms", "inactive_ms", "state"]
    assert (web["pending"], web["state"]) == (2, "reading")
    assert isinstance(web["inactive_ms"], int)
    assert other["name"] == {"base64": "/w=="}
    assert other["inactive_ms"] is None
    assert document["schema"] == "echomq-console/consumers/1"


def test_a_consumer_not_seen_for_the_job_time_is_gone(command: Command, stuck: Stuck) -> None:
    stuck.add(2)
    said = command("consumers", *stuck.names, "--job-time", "1ms")
    assert "✕ gone" in said.out
    assert "● reading" in command("consumers", *stuck.names).out
    assert "✕ gone" in command("--job-time", "1ms", "consumers", *stuck.names).out


def test_consumers_before_7_2(command: Command, any_server: EmbeddedServer, stream: bytes) -> None:
    with Redis.from_url(any_server.url) as client:
        client.xgroup_create(stream, "g", "0", mkstream=True)
        Stuck(client, stream).add(1)
        (row,) = command("consumers", stream, "g", "--json", "--url", any_server.url).document["consumers"]
        tells = tuple(int(n) for n in client.info("server")["redis_version"].split(".")[:2]) >= (7, 2)
        client.delete(stream)
    assert (row["idle_ms"] is None) is not tells
    assert isinstance(row["inactive_ms"], int)


def test_pending_as_json(command: Command, stuck: Stuck) -> None:
    first, second = stuck.add(2, fields={"id": "USR0KHTOWnGLuC"})
    (third,) = stuck.add(1, idle_ms=1000, deliveries=3)
    document = command("pending", *stuck.names, "--json").document
    assert document["schema"] == "echomq-console/pending/1"
    assert (document["total"], document["complete"]) == (3, True)
    rows = document["pending"]
    assert [row["id"] for row in rows] == [first, second, third]
    assert list(rows[0]) == ["stream", "group", "id", "branded_id", "consumer", "idle_ms", "delivery_count"]
    assert [row["branded_id"] for row in rows] == ["USR0KHTOWnGLuC", "USR0KHTOWnGLuC", None]
    assert [row["delivery_count"] for row in rows] == [1, 1, 3]
    assert rows[0]["consumer"] == "web-1"
    assert rows[0]["idle_ms"] >= 600_000


def test_pending_narrowed(command: Command, stuck: Stuck) -> None:
    ids = stuck.add(4)
    (young,) = stuck.add(1, idle_ms=0)
    stuck.server.xclaim(stuck.stream, "g", "web-2", 0, [ids[1]], idle=700_000, justid=True)

    def listed(*options: str) -> tuple[list[str], bool]:
        document = command("pending", *stuck.names, "--json", *options).document
        return [row["id"] for row in document["pending"]], document["complete"]

    assert listed() == ([*ids, young], True)
    assert listed("--min-idle", "5m") == (ids, True)
    assert listed("--consumer", "web-1", "--min-idle", "5m") == ([ids[0], ids[2], ids[3]], True)
    assert listed("--consumer", "web-2") == ([ids[1]], True)
    assert listed("--limit", "2") == (ids[:2], False)
    assert listed("--limit", "5") == ([*ids, young], True)
    assert "--limit 2 was reached (5 pending" in command("pending", *stuck.names, "--limit", "2").out


def test_an_idle_filter_reaches_beyond_a_page(command: Command, stuck: Stuck) -> None:
    stuck.add(1100, idle_ms=0)
    (old,) = stuck.add(1)
    (row,) = command("pending", *stuck.names, "--min-idle", "5m", "--json").document["pending"]
    assert row["id"] == old


def test_dead_letters_as_json(command: Command, stuck: Stuck) -> None:
    entry_id, other = stuck.add(2, fields={"note": "first"})
    moved = command("dead-letter", *stuck.names, entry_id, other, "--yes", "--count", "2", "--reason", "no amount")
    assert moved.status == 0
    document = command("dead-letters", stuck.stream, "--json").document
    assert document["schema"] == "echomq-console/dead-letters/1"
    letter = document["dead_letters"][0]
    assert list(letter) == ["stream", "id", "branded_id", "fields", "provenance"]
    assert letter["stream"] == stuck.stream.decode()
    assert letter["fields"] == [["number", "0"], ["note", "first"]]
    provenance = letter["provenance"]
    assert provenance.pop("at").endswith("Z")
    assert provenance.pop("idle_ms") >= 600_000
    assert "@" in provenance.pop("by")
    assert provenance == {
        "stream": stuck.stream.decode(),
        "group": "g",
        "id": entry_id,
        "consumer": "web-1",
        "delivery_count": 1,
        "reason": "no amount",
    }
    assert document["complete"] is True
    assert command("dead-letters", stuck.stream, "--limit", "1", "--json").document["complete"] is False
    assert "--limit 1 was reached" in command("dead-letters", stuck.stream, "--limit", "1").out


def test_a_dead_letter_of_no_moment_a_calendar_knows(command: Command, stuck: Stuck) -> None:
    at = str(10**30)
    pairs = [b"f", b"\xff", b"dl:stream", stuck.stream, b"dl:group", b"g", b"dl:id", b"1-0", b"dl:consumer", b"c"]
    pairs += [b"dl:attempts", b"1", b"dl:idle_ms", b"0", b"dl:reason", b"r", b"dl:by", b"b", b"dl:at", at.encode()]
    stuck.server.execute_command("XADD", b"{%s}:dead" % stuck.stream, "*", *pairs)
    (letter,) = command("dead-letters", stuck.stream, "--json").document["dead_letters"]
    assert letter["provenance"]["at"] is None
    assert letter["fields"] == [["f", {"base64": "/w=="}]]
    assert command("dead-letters", stuck.stream).status == 0


def test_diagnose_tells_by_its_status(command: Command, stuck: Stuck) -> None:
    assert command("diagnose").status == 0
    assert "1 group is well" in command("diagnose", stuck.stream).out
    (entry_id,) = stuck.add(1, idle_ms=0)
    stuck.server.xdel(stuck.stream, entry_id)
    warned = command("diagnose", "--json")
    assert warned.status == 1
    (finding,) = warned.document["findings"]
    assert (finding["rule"], finding["severity"]) == ("ghosts", "warning")
    stuck.add(1, deliveries=7)
    critical = command("diagnose", *stuck.names, "--json")
    assert critical.status == 2
    finding = critical.document["findings"][0]
    assert list(finding) == [
        *("rule", "severity", "stream", "group", "consumer", "evidence", "explanation", "recovery"),
    ]
    assert list(finding["recovery"]) == ["action", "command"]
    assert finding["severity"] == "critical"
    assert [f["severity"] for f in critical.document["findings"]] == ["critical", "warning"]


def test_diagnose_of_one_group_says_nothing_of_the_others(command: Command, stuck: Stuck) -> None:
    stuck.add(1, deliveries=7)
    stuck.server.xgroup_create(stuck.stream, "calm", "$")
    assert command("diagnose", stuck.stream, "calm").status == 0
    assert command("diagnose", stuck.stream).status == 2
    said = command("diagnose", stuck.stream, "g").out
    assert f"{stuck.stream.decode()} › g" in said
    assert "poison" in said
    assert "echomq-console dead-letter" in said


def test_a_command_to_paste_is_never_folded(spawn: Command, stuck: Stuck) -> None:
    stuck.add(15, deliveries=7)
    said = spawn("diagnose", *stuck.names, env={"COLUMNS": "40"}).out
    (line,) = [line for line in said.splitlines() if line.startswith("  $ ")]
    assert all(row[0] in line for row in stuck.rows())


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless_and_reach_exactly_that_key(command: Command, server: Any, name: bytes) -> None:
    server.xgroup_create(name, name, "0", mkstream=True)
    stuck = Stuck(server, name, name, name)
    (entry_id,) = stuck.add(1, deliveries=7, fields={"[/x]": "\x1b]0;owned\x07 [/x]"})
    for arguments in (
        ["groups"],
        ["diagnose"],
        ["diagnose", "--", name, name],
        ["consumers", "--", name, name],
        ["pending", "--", name, name],
        ["drain", "--dry-run", "--", name, name, name],
        ["autoclaim", "--dry-run", "--", name, name],
        ["dead-letter", "--dry-run", "--reason", name, "--", name, name, entry_id],
        ["dead-letter", "--yes", "--count", "1", "--reason", name, "--", name, name, entry_id],
        ["dead-letters", "--", name],
        ["audit"],
    ):
        said = command(*arguments)
        assert said.status in (0, 1, 2), said
        assert harmless_text(said.out), said.out
        assert said.err == ""
    assert stuck.rows() == []
    assert server.xlen(b"{%s}:dead" % name) == 1
    command("audit", "--json").document  # noqa: B018  # it can be read


def test_looking_changes_nothing(command: Command, stuck: Stuck) -> None:
    stuck.add(3)
    before = stuck.rows()
    stuck.server.config_resetstat()
    for arguments in (
        ["groups"],
        ["diagnose"],
        ["consumers", *stuck.names],
        ["pending", *stuck.names],
        ["dead-letters", stuck.stream],
        ["drain", *stuck.names, "web-1", "--dry-run"],
    ):
        assert command(*arguments).status in (0, 2)
    used = {name.removeprefix("cmdstat_").partition("|")[0] for name in stuck.server.info("commandstats")}
    assert used <= {"xinfo", "xpending", "xrange", "xrevrange", "scan", "type", "time", "info", "client", "config"}
    assert stuck.rows() == before
    assert min(stuck.idle_ms()) >= 600_000


async def test_a_connection_for_looking_sends_nothing_that_writes(valkey: EmbeddedServer) -> None:
    async with connected(aim_of(Root(url=valkey.url))) as wire:
        with pytest.raises(ReadOnly):
            await wire.call("SET", "k", "v")


def test_no_colour_where_there_is_no_terminal(spawn: Command, stuck: Stuck) -> None:
    stuck.add(1, deliveries=7)
    said = spawn("groups").out
    assert "\x1b" not in said
    assert "poison" in said


def test_text_in_an_encoding_that_lacks_it(spawn: Command, stuck: Stuck) -> None:
    said = spawn("groups", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert said.status == 0
    assert said.out.isascii()


def test_an_option_before_or_behind_the_name(command: Command, stuck: Stuck, valkey: EmbeddedServer) -> None:
    wrong = "redis://127.0.0.1:1"
    assert command("--url", wrong, "groups", "--url", valkey.url).status == 0
    assert command("--url", valkey.url, "groups").status == 0
    assert command("groups").status == 0  # $ECHOMQ_URL


def test_rows_are_as_wide_as_they_need_to_be_where_there_is_no_terminal(command: Command, server: Any) -> None:
    long = b"k" * 300
    server.xgroup_create(long, "g", "0", mkstream=True)
    assert os.fsdecode(long) in command("groups").out
