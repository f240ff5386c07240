"""The headless consumer: its life, its end, its log, and what it refuses."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from echomq_console.cli.outlet import Outlet
from echomq_console.cli.service_log import EVENT_LEVELS, TOLD_BY_EVENTS, ServiceLog
from echomq_console.engine import events as ev
from echomq_console.server.embedded import EmbeddedServer

from .conftest import Command, Ran, Started, Stuck

DOCS = Path(__file__).parents[2] / "docs"

ON_THE_FOURTH = """
begun = []

async def handle(entry):
    begun.append(entry.id)
    if len(begun) == 4:
        {do}
        await asyncio.sleep(0.05)
    return Ok()
"""


class Consumer:
    """A consumer in a process of its own, and what it says as it says it."""

    def __init__(self, started: Started) -> None:
        self.process = started.process
        self.lines: list[str] = []

    def until(self, text: str) -> str:
        """Read its log up to a line that holds a text."""
        assert self.process.stderr is not None
        while line := self.process.stderr.readline().decode():
            self.lines.append(line)
            if text in line:
                return line
        raise AssertionError(f"{text!r} was never said: {''.join(self.lines)}")

    def end(self, number: int | None = signal.SIGTERM) -> Ran:
        """Stop it, and wait for its end."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return Ran(self.process.returncode, out.decode(), "".join(self.lines) + err.decode())


Consume = Callable[..., Consumer]


@pytest.fixture
def consume(start: Callable[..., Started]) -> Consume:
    """Start a consumer `web-1` of the group `g`."""

    def begin(stream: bytes, handler: str, *more: str, **kinds: Any) -> Consumer:
        options = () if "--start" in more else ("--start", "head")
        kinds = {"stdin": subprocess.DEVNULL, "bufsize": 0} | kinds
        return Consumer(start("consume", stream, "g", "web-1", "--handler", handler, *options, *more, **kinds))

    return begin


def fill(server: Any, stream: bytes, count: int) -> list[str]:
    return [server.execute_command("XADD", stream, "*", "number", str(n)).decode() for n in range(count)]


def logged(audit_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in audit_path.read_text().splitlines()]


# -- its life ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_whole_life(consume: Consume, stuck: Stuck, ok: str, audit_path: Path, name: str) -> None:
    stuck.add(2)
    fill(stuck.server, stuck.stream, 3)
    consumer = consume(stuck.stream, ok, "--report", "10ms")
    consumer.until("drained delivered=2")
    consumer.until("acknowledged=5 ")
    said = consumer.end(getattr(signal, name))
    assert (said.status, said.out) == (0, "")
    assert "Traceback" not in said.err
    order = ["started", "drained", "stopping", "stopped"]
    assert [line.split()[2] for line in said.err.splitlines() if line.split()[2] in order] == order
    assert "stopped delivered=5 acknowledged=5 failed=0 dead_lettered=0 deleted=0 lost=0 " in said.err
    assert f"why={name} " in said.err
    assert stuck.rows() == []
    intent, outcome = logged(audit_path)
    assert {"event": "intent", "action": "consume", "consumer": "web-1", "group": "g"}.items() <= intent.items()
    assert (intent["handler"], intent["start"], intent["min_idle_ms"]) == (ok, "head", 300_000)
    assert intent["audit_id"] == outcome["audit_id"]
    assert (outcome["event"], outcome["done"], outcome["failed"], outcome["error"]) == ("outcome", 5, 0, None)
    assert f"audit_id={intent['audit_id']}" in said.err


def test_the_running_handler_ends_and_the_rest_is_given_back(
    consume: Consume, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    ids = fill(stuck.server, stuck.stream, 50)
    handler = handlers(ON_THE_FOURTH.format(do="os.kill(os.getpid(), signal.SIGTERM)"))
    said = consume(stuck.stream, handler).end(None)
    assert said.status == 0
    assert "acknowledged=4 " in said.err
    rows = stuck.rows()
    assert {row[0] for row in rows} <= set(ids[4:])
    assert {row[2] for row in rows} <= {0}, "what was not begun keeps the count it had"
    assert all(idle >= 300_000 for idle in stuck.idle_ms())
    assert ("released" in said.err) == bool(rows)


def test_a_second_signal_ends_at_once(
    consume: Consume, stuck: Stuck, handlers: Callable[[str], str], audit_path: Path
) -> None:
    ids = fill(stuck.server, stuck.stream, 10)
    twice = "[os.kill(os.getpid(), signal.SIGTERM) for _ in range(2)]; await asyncio.sleep(3600)"
    said = consume(stuck.stream, handlers(ON_THE_FOURTH.format(do=twice))).end(None)
    assert said.status == 143
    assert said.err.splitlines()[-1].startswith("echomq-console: ended at once")
    assert ids[3] in [row[0] for row in stuck.rows()]
    assert logged(audit_path)[-1]["error"] == "ended at once: what ran is still pending"


def test_a_handler_that_does_not_end_is_cut_off_after_the_grace(
    consume: Consume, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    (entry_id,) = fill(stuck.server, stuck.stream, 1)
    handler = handlers("async def handle(entry): os.kill(os.getpid(), signal.SIGTERM); await asyncio.sleep(3600)")
    said = consume(stuck.stream, handler, "--grace", "10ms").end(None)
    assert said.status == 0
    assert 'reason="stopped before it was done"' in said.err
    assert [row[0] for row in stuck.rows()] == [entry_id]


def test_the_end_of_standard_input_stops_it_where_a_parent_said_so(consume: Consume, stuck: Stuck, ok: str) -> None:
    consumer = consume(stuck.stream, ok, "--stop-on-eof", stdin=subprocess.PIPE)
    consumer.until("drained")
    assert consumer.process.stdin is not None
    consumer.process.stdin.close()
    consumer.process.stdin = None
    said = consumer.end(None)
    assert said.status == 0
    assert 'why="end of input"' in said.err


def test_every_option_reaches_the_engine(
    consume: Consume, stuck: Stuck, handlers: Callable[[str], str], audit_path: Path
) -> None:
    """A peer's entries are claimed by sevens, one past the limit given up, two run at once, a slow one is cut off."""
    peers = stuck.add(10)
    (poison,) = stuck.add(1)
    stuck.server.xclaim(stuck.stream, "g", "gone", 0, peers, idle=90_000, retrycount=1, justid=True)
    stuck.server.xclaim(stuck.stream, "g", "gone", 0, [poison], idle=90_000, retrycount=5, justid=True)
    slow, pair, other = fill(stuck.server, stuck.stream, 3)
    source = f"""
both = asyncio.Event()
waiting = []
async def handle(entry):
    if entry.id == {slow!r}:
        await asyncio.sleep(3600)
    if entry.id in ({pair!r}, {other!r}):
        waiting.append(entry.id)
        if len(waiting) == 2: both.set()
        await both.wait()
    return Ok()
"""
    numbers = ["--min-idle", "60s", "--beat", "10ms", "--count", "7", "--concurrency", "3", "--timeout", "500ms"]
    numbers += ["--max-attempts", "5", "--retry-delay", "2s", "--recreate", "new", "--grace", "3s"]
    consumer = consume(stuck.stream, handlers(source), *numbers)
    while [row[0] for row in stuck.rows()] != [slow]:
        assert consumer.process.poll() is None
    consumer.until("timed out after 0.5 s")
    said = consumer.end()
    assert said.status == 0
    assert f"claimed count=7 first={peers[0]} last={peers[6]} how=beat" in said.err
    assert "acknowledged=12 failed=1 dead_lettered=1 " in said.err
    ((_, fields),) = stuck.server.xrange(b"{%s}:dead" % stuck.stream)
    assert fields[b"dl:id"].decode() == poison
    expected = {"min_idle_ms": 60_000, "beat_ms": 10, "page": 7, "concurrency": 3, "timeout_ms": 500}
    expected |= {"max_attempts": 5, "retry_delay_ms": 2000, "grace_ms": 3000}
    assert (expected | {"recreate": "new"}).items() <= logged(audit_path)[0].items()


def test_what_fails_waits_for_min_idle_and_the_retry_delay(
    consume: Consume, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    fill(stuck.server, stuck.stream, 1)
    source = """
import time
tried = []
async def handle(entry):
    tried.append(time.monotonic())
    return Error("not yet") if len(tried) == 1 else Error(f"after {tried[1] - tried[0]:.3f}")
"""
    consumer = consume(
        stuck.stream, handlers(source), "--min-idle", "100ms", "--beat", "10ms", "--retry-delay", "400ms"
    )
    waited = re.search(r"after (\d+\.\d+)", consumer.until("after"))
    assert waited is not None
    assert (
        float(waited[1]) >= 0.45
    )  # the lease was last renewed at most a quarter of min-idle before the delay was over
    assert consumer.end().status == 0


@pytest.mark.parametrize(("place", "seen"), [("new", []), ("head", ["0", "1"]), ("ID", ["1"])])
def test_where_a_new_group_begins(
    consume: Consume, server: Any, stream: bytes, ok: str, *, place: str, seen: list[str]
) -> None:
    ids = fill(server, stream, 2)
    consumer = consume(stream, ok, "--start", ids[0] if place == "ID" else place, "--log-level", "debug")
    consumer.until("group_made")
    (last,) = fill(server, stream, 1)
    consumer.until(f"last={last}")
    assert f" acknowledged={len(seen) + 1} " in consumer.end().err


# -- what it refuses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "missing option '--start'"),
        (["--start", "$", "--handler", "m:f"], "say new, head, or an entry id"),
        (["--start", "new"], "--handler module:function"),
        (["--start", "new", "--handler", "m:f", "--beat", "0"], "--beat is longer than 0"),
        (["--start", "new", "--handler", "m:f", "--min-idle", "0"], "--min-idle is longer than 0"),
        (["--start", "new", "--handler", "m:f", "--job-time", "0"], "--job-time is the longest a job may take"),
        (["--start", "new", "--handler", "m:f", "--timeout", "0s"], "--timeout is longer than 0"),
        (["--start", "new", "--handler", "m:f", "--report", "often"], "write 250ms, 30s, 5m or 1h30m"),
        (["--start", "new", "--handler", "m:f", "--recreate", "later"], "--recreate"),
        (["--start", "new", "--handler", "m:f", "--log-format", "xml"], "--log-format"),
        (["--start", "new", "--handler", "m:f", "--concurrency", "0"], "--concurrency"),
        (["--start", "new", "--handler", "no_such_module:f", "--create"], "no module 'no_such_module'"),
        (["--start", "new", "--handler", "m:f", "--events", "/no/such/folder/x"], "cannot be written"),
    ],
)
def test_what_cannot_be_understood(
    command: Command, server: Any, stream: bytes, audit_path: Path, *, arguments: list[str], said: str
) -> None:
    assert said in command("consume", stream, "g", "web-1", *arguments).complaint()
    assert server.exists(stream) == 0
    assert not audit_path.exists()


@pytest.mark.parametrize("more", [[], ["--create"]])
def test_read_only_starts_nothing(
    command: Command, server: Any, stream: bytes, ok: str, audit_path: Path, *, more: list[str]
) -> None:
    arguments = ["consume", stream, "g", "web-1", "--start", "new", "--handler", ok, *more]
    assert "read-only" in command("--read-only", *arguments).complaint()
    assert server.exists(stream) == 0
    assert not audit_path.exists()


def test_no_audit_no_consumer(consume: Consume, server: Any, stream: bytes, ok: str, audit_path: Path) -> None:
    audit_path.mkdir(parents=True)  # a folder where the file should be
    complaint = consume(stream, ok, "--create").end(None).complaint()
    assert str(audit_path) in complaint
    assert "nothing is changed without it" in complaint
    assert server.exists(stream) == 0


def test_a_stream_that_is_not_there_is_made_only_on_the_word(
    consume: Consume, server: Any, stream: bytes, ok: str, audit_path: Path
) -> None:
    complaint = consume(stream, ok).end(None).complaint()
    assert complaint == f"there is no stream '{stream.decode()}': check the name, or say --create to make it"
    assert server.exists(stream) == 0
    assert not audit_path.exists()
    consumer = consume(stream, ok, "--create")
    consumer.until("drained")
    assert consumer.end().status == 0
    assert [group["name"] for group in server.xinfo_groups(stream)] == [b"g"]


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_it_asks(consume: Consume, server: Any, stream: bytes, ok: str, answer: str) -> None:
    controlling, terminal = pty.openpty()
    consumer = consume(stream, ok, stdin=terminal, stderr=terminal)
    os.close(terminal)
    assert "Make it, with the group 'g'?" in _read_until(controlling, "[y/N]")
    os.write(controlling, answer.encode() + b"\n")
    if answer == "y":
        _read_until(controlling, "drained")
        consumer.process.send_signal(signal.SIGINT)
        assert "acknowledged=0" in _read_until(controlling, "why=SIGINT")
    else:
        _read_until(controlling, "cancelled: nothing was changed")
    assert consumer.process.wait(60) == (0 if answer == "y" else 3)
    assert server.exists(stream) == (answer == "y")
    os.close(controlling)


def _read_until(descriptor: int, text: str) -> str:
    said = b""
    while text.encode() not in said:
        said += os.read(descriptor, 4096)
    return said.decode()


def test_what_is_no_stream(consume: Consume, server: Any, stream: bytes, ok: str) -> None:
    server.set(stream, "text")
    for more in ([], ["--create"]):
        said = consume(stream, ok, *more).end(None)
        assert said.status == 3
        complaint = said.err.splitlines()[-1]
        assert f"'{stream.decode()}' holds something that is no stream (WRONGTYPE" in complaint
        assert "Traceback" not in said.err
    assert server.get(stream) == b"text"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_missing_permission_is_named_with_its_rule(
    consume: Consume, stuck: Stuck, valkey: EmbeddedServer, ok: str, audit_path: Path, *, form: str
) -> None:
    rules = ["reset", "on", ">secret", "~*", "+@all", "-xclaim"]
    stuck.server.execute_command("ACL", "SETUSER", "service", *rules)
    url = valkey.url.replace("redis://", "redis://service:secret@")
    said = consume(stuck.stream, ok, "--log-format", form, env={"ECHOMQ_URL": url}).end(None)
    assert said.status == 3
    line = "permission denied for XCLAIM: the ACL rule +xclaim would allow it"
    last = said.err.splitlines()[-1]
    if form == "text":
        assert last == f"echomq-console: {line}"
    else:
        assert [json.loads(each)["event"] for each in said.err.splitlines()] == ["started", "stopped", "error"]
        assert (json.loads(last)["level"], json.loads(last)["message"]) == ("error", line)
    assert "secret" not in said.err + audit_path.read_text()
    assert logged(audit_path)[-1]["error"] == line


@pytest.mark.parametrize("more", [[], ["--create"]])
def test_a_password_that_is_wanted(consume: Consume, stream: bytes, ok: str, more: list[str]) -> None:
    with EmbeddedServer(options=("--requirepass", "hunter2")) as server:
        said = consume(stream, ok, *more, env={"ECHOMQ_URL": server.url}).end(None)
    assert said.status == 3
    assert "wants a password" in said.err.splitlines()[-1]
    assert "Traceback" not in said.err


def test_a_lost_group_is_final(consume: Consume, stuck: Stuck, ok: str, audit_path: Path) -> None:
    consumer = consume(stuck.stream, ok)
    consumer.until("drained")
    stuck.server.xgroup_destroy(stuck.stream, "g")
    said = consumer.end(None)
    assert said.status == 3
    *_, stopped, last = said.err.splitlines()
    assert 'why="gave up"' in stopped
    assert last.startswith(f"echomq-console: the group g of {stuck.stream.decode()} is gone: ")
    assert last.endswith("(--recreate new or --recreate head would make it again)")
    assert "is gone" in logged(audit_path)[-1]["error"]


def test_a_lost_group_is_made_again_where_that_was_declared(consume: Consume, stuck: Stuck, ok: str) -> None:
    consumer = consume(stuck.stream, ok, "--recreate", "head", "--log-level", "debug")
    consumer.until("drained")
    stuck.server.xgroup_destroy(stuck.stream, "g")
    assert "the group was destroyed" in consumer.until("is gone: ")
    consumer.until("group_made start=0 again=true")
    (entry_id,) = fill(stuck.server, stuck.stream, 1)
    consumer.until(f"acknowledged count=1 first={entry_id}")
    assert consumer.end().status == 0


# -- a server that is away -----------------------------------------------------------------------------------------


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
    return found


@pytest.mark.parametrize("create", [True, False])
def test_a_server_that_is_not_there_yet_is_waited_for(
    consume: Consume, stream: bytes, ok: str, port: int, create: bool
) -> None:
    url = f"redis://127.0.0.1:{port}"
    consumer = consume(stream, ok, *(["--create"] if create else []), env={"ECHOMQ_URL": url})
    assert url in consumer.until("disconnected")
    with EmbeddedServer(port=port):
        if create:
            consumer.until("drained")
            said = consumer.end()
            assert said.status == 0
        else:
            said = consumer.end(None)
            assert said.status == 3
            assert "there is no stream" in said.err.splitlines()[-1]
    assert said.err.count(" disconnected ") == 1, "a server that stays away is said once"


@pytest.mark.parametrize("create", [True, False])
def test_it_can_be_stopped_while_the_server_is_away(
    consume: Consume, stream: bytes, ok: str, port: int, create: bool
) -> None:
    more = ["--create"] if create else []
    consumer = consume(stream, ok, *more, env={"ECHOMQ_URL": f"redis://127.0.0.1:{port}"})
    consumer.until("disconnected")
    assert consumer.end().status == 0


def test_a_lost_connection_is_said_once_and_so_is_its_end(consume: Consume, stuck: Stuck, ok: str) -> None:
    consumer = consume(stuck.stream, ok, "--log-level", "debug")
    consumer.until("drained")
    for row in stuck.server.client_list():
        if row["name"] == "echomq:g:web-1":
            stuck.server.client_kill_filter(_id=row["id"])
    consumer.until("disconnected")
    (entry_id,) = fill(stuck.server, stuck.stream, 1)
    consumer.until(f"acknowledged count=1 first={entry_id}")
    said = consumer.end()
    assert said.status == 0
    assert sum(" warning disconnected " in line for line in said.err.splitlines()) == 1
    assert "trying again" not in said.err, "the engine's own line says the same as the event"


# -- events and the log --------------------------------------------------------------------------------------------

PRINTS = """
print("printed at import")

def handle(entry):
    print("printed by the handler")
    os.write(1, b"written to the descriptor\\n")
    return Error("no") if entry.payload[b"number"] == b"1" else Ok()
"""


def test_events_are_all_of_standard_output(
    consume: Consume, stuck: Stuck, handlers: Callable[[str], str], audit_path: Path
) -> None:
    ids = fill(stuck.server, stuck.stream, 2)
    consumer = consume(stuck.stream, handlers(PRINTS), "--events", "-", "--report", "10ms")
    consumer.until("printed by the handler")  # at once, not when a buffer is full
    consumer.until(f"failed id={ids[1]}")
    consumer.until("acknowledged=1 ")
    said = consumer.end()
    assert said.status == 0
    events = said.events
    assert events[0] == {"event": "audit", "audit_id": logged(audit_path)[0]["audit_id"]}
    assert {"event": "delivered", "id": ids[0], "entry": ids[0], "attempts": 1} in events
    assert {"event": "acknowledged", "ids": [ids[0]], "already": 0} in events
    assert {"event": "failed", "id": ids[1], "attempts": 1, "reason": "no", "retry": True} in events
    assert {"drained", "totals"} <= {event["event"] for event in events}
    assert {"event": "stopped", "acknowledged": 1, "failed": 1, "why": "SIGTERM"}.items() <= events[-1].items()
    for words in ("at import", "by the handler", "to the descriptor"):
        assert words in said.err


def test_events_are_appended_to_a_file(consume: Consume, stuck: Stuck, ok: str, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    for _ in range(2):
        consumer = consume(stuck.stream, ok, "--events", str(file))
        consumer.until("drained")
        said = consumer.end()
        assert (said.status, said.out) == (0, "")
    kinds = [json.loads(line)["event"] for line in file.read_text().splitlines()]
    assert kinds.count("audit") == kinds.count("stopped") == 2
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_under_the_events_is_said_and_stops_nothing(consume: Consume, stuck: Stuck, ok: str) -> None:
    consumer = consume(stuck.stream, ok, "--events", "/dev/full", "--log-level", "debug")
    consumer.until("error   events_file")
    (entry_id,) = fill(stuck.server, stuck.stream, 1)
    consumer.until(f"acknowledged count=1 first={entry_id}")
    said = consumer.end()
    assert said.status == 0
    assert said.err.count("events_file") == 1


def test_it_stops_where_nobody_reads_its_events_any_more(consume: Consume, stuck: Stuck, ok: str) -> None:
    reading, writing = os.pipe()
    consumer = consume(stuck.stream, ok, "--events", "-", stdout=writing)
    os.close(writing)
    consumer.until("drained")
    os.close(reading)
    fill(stuck.server, stuck.stream, 1)
    said = consumer.process.stderr.read().decode() if consumer.process.stderr is not None else ""
    assert consumer.process.wait(60) == 141
    assert 'why="nobody reads the events"' in said
    assert stuck.rows() == []


def test_a_reader_that_stands_still_holds_nothing_up(consume: Consume, stuck: Stuck, ok: str) -> None:
    """A hundred thousand bytes of events are more than a pipe holds."""
    reading, writing = os.pipe()
    ids = fill(stuck.server, stuck.stream, 1500)
    consumer = consume(stuck.stream, ok, "--events", "-", "--report", "10ms", stdout=writing)
    os.close(writing)
    consumer.until("acknowledged=1500 ")
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.extend(iter(lambda: os.read(reading, 65536), b"")))
    consumer.process.send_signal(signal.SIGTERM)
    reader.start()
    assert consumer.process.wait(60) == 0
    reader.join(60)
    os.close(reading)
    events = [json.loads(line) for line in b"".join(said).splitlines()]
    assert [event["id"] for event in events if event["event"] == "delivered"] == ids
    assert events[-1]["event"] == "stopped"


def test_a_json_log_is_one_document_a_line(consume: Consume, stuck: Stuck, handlers: Callable[[str], str]) -> None:
    fill(stuck.server, stuck.stream, 1)
    handler = handlers("async def handle(entry): return Error('card \\x1b declined')")
    consumer = consume(stuck.stream, handler, "--log-format", "json", "--report", "10ms")
    consumer.until('"failed":1')
    said = consumer.end()
    lines = [json.loads(line) for line in said.err.splitlines()]
    kinds = [line["event"] for line in lines]
    assert kinds[0] == "started"
    assert kinds[-2:] == ["stopping", "stopped"]
    assert "delivered" not in kinds, "not a line for every entry, unless asked for"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["at"]) for line in lines)
    (failed,) = [line for line in lines if line["event"] == "failed"]
    assert (failed["level"], failed["reason"], failed["attempts"]) == ("warning", "card declined", 1)
    assert (lines[0]["stream"], lines[0]["group"], lines[0]["name"]) == (stuck.stream.decode(), "g", "web-1")
    assert lines[-1]["failed"] == 1


def test_a_quiet_log(consume: Consume, stuck: Stuck, handlers: Callable[[str], str]) -> None:
    fill(stuck.server, stuck.stream, 1)
    consumer = consume(stuck.stream, handlers("async def handle(entry): return Error('no')"), "--log-level", "warning")
    consumer.until("failed")
    said = consumer.end()
    assert said.status == 0
    assert said.err.count("\n") == 1


def test_names_that_drive_a_terminal(consume: Consume, server: Any, stream: bytes, ok: str, audit_path: Path) -> None:
    hostile = stream + b"\x1b]0;owned\x07\xff [/x]"
    consumer = consume(hostile, ok, "--create")
    consumer.until("drained")
    said = consumer.end()
    assert said.status == 0
    assert "\x1b" not in said.err
    assert rf'stream="{stream.decode()}\x1b]0;owned\x07\xff [/x]"' in said.err
    assert [group["name"] for group in server.xinfo_groups(hostile)] == [b"g"]
    assert set(logged(audit_path)[0]["stream"]) == {"base64"}


def test_every_event_has_its_loudness() -> None:
    kinds = {kind for kind in vars(ev).values() if isinstance(kind, type) and issubclass(kind, ev.Event)}
    assert set(EVENT_LEVELS) == kinds - {ev.Event}


def test_what_an_event_says_is_not_said_twice() -> None:
    """Each place that is passed over is there, and logs."""
    source = Path(inspect.getfile(ev)).parent
    for module, function in TOLD_BY_EVENTS:
        tree = ast.parse((source / f"{module}.py").read_text())
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        (found,) = [node for node in ast.walk(tree) if isinstance(node, kinds) and node.name == function]
        assert "_log" in ast.unparse(found), (module, function)
        assert "emit(" in (text := ast.unparse(found)) or "_say(" in text, (module, function)


def test_a_line_of_text_is_one_line_whatever_it_holds() -> None:
    said: list[bytes] = []
    log = ServiceLog(said.append, form="text", level="info")
    log.say("info", "x", name=b"a\nb\x1b", empty="", quote='say "a=b"', nothing=None, yes=True, number=3)
    (line,) = said
    assert line.decode().split(" ", 1)[1] == (
        'info    x name=a\\nb\\x1b empty=(empty) quote="say \\"a=b\\"" yes=true number=3\n'
    )


# -- the way out ---------------------------------------------------------------------------------------------------


def missed(count: int) -> bytes:
    return b"missed %d\n" % count


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def test_a_line_is_in_the_pipe_when_write_returns(pipe: tuple[int, int]) -> None:
    outlet = Outlet(pipe[1], missed=missed)
    outlet.write(b"first\n")
    assert select.select([pipe[0]], [], [], 0)[0]
    assert os.read(pipe[0], 100) == b"first\n"


def test_what_has_to_wait_keeps_its_order_and_what_is_too_much_is_counted(pipe: tuple[int, int]) -> None:
    outlet = Outlet(pipe[1], missed=missed, most_waiting=300_000)
    lines = [b"%05d%s\n" % (n, b"." * 994) for n in range(1000)]
    for line in lines:
        outlet.write(line)  # returns, though nobody reads
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.extend(iter(lambda: os.read(pipe[0], 65536), b"")))
    reader.start()
    outlet.close(60)
    os.close(pipe[1])
    reader.join(60)
    kept: list[bytes] = []
    left_out = 0
    for line in b"".join(read).splitlines(keepends=True):
        if line.startswith(b"missed"):
            left_out += int(line.split()[1])
        else:
            assert line == lines[len(kept) + left_out], "each in its place"
            kept.append(line)
    assert left_out > 0
    assert len(kept) >= 300
    assert len(kept) + left_out == 1000


def test_the_end_does_not_wait_for_a_reader_that_stands_still(pipe: tuple[int, int]) -> None:
    outlet = Outlet(pipe[1], missed=missed)
    outlet.write(b"x" * 1_000_000)
    outlet.close(0.05)  # or the test's own time-out ends it


def test_a_reader_that_has_gone_is_told_once(pipe: tuple[int, int]) -> None:
    told: list[OSError] = []
    outlet = Outlet(pipe[1], missed=missed, on_broken=told.append)
    os.close(pipe[0])
    for _ in range(3):
        outlet.write(b"line\n")
    outlet.close()
    assert [type(error) for error in told] == [BrokenPipeError]


# -- the examples --------------------------------------------------------------------------------------------------


def _unit(section: str) -> dict[str, list[str]]:
    """Read a section of the unit; a name may be there more than once."""
    text = (DOCS / "consumer.service").read_text().replace("\\\n", " ")
    body = text.split(f"[{section}]")[1].split("\n[")[0]
    said: dict[str, list[str]] = {}
    for line in body.splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            said.setdefault(name, []).append(value.strip())
    return said


def test_the_unit_says_what_a_clean_stop_needs() -> None:
    service = {name: values[-1] for name, values in _unit("Service").items()}
    assert {"Type": "exec", "KillSignal": "SIGTERM", "KillMode": "mixed", "Restart": "on-failure"}.items() <= (
        service.items()
    )
    assert service["RestartPreventExitStatus"] == "3"
    assert {"TimeoutStopSec", "StateDirectory", "EnvironmentFile"} <= set(service)


def test_the_command_of_the_unit_is_one_that_runs(
    command: Command, stream: bytes, ok: str, server: Any, *, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its arguments are understood: what is wrong at last is the audit log's place, made unusable here."""
    (line,) = _unit("Service")["ExecStart"]
    program, *arguments = shlex.split(line)
    assert Path(program).name == "echomq-console"
    arguments[arguments.index("--handler") + 1] = ok
    arguments[1] = os.fsdecode(stream)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ECHOMQ_AUDIT", str(tmp_path))
    assert "the audit log" in command(*arguments, "--create", "--log-format", "text").complaint()
    assert server.exists(stream) == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    (line,) = _unit("Service")["ExecStart"]
    program = shlex.split(line)[0]
    unit = tmp_path / "consumer.service"
    unit.write_text((DOCS / "consumer.service").read_text().replace(program, sys.executable))
    said = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], check=False, capture_output=True, text=True)
    complaints = [line for line in said.stderr.splitlines() if "consumer.service" in line]
    assert (said.returncode, complaints) == (0, []), said.stderr


def test_the_container_gets_signals_and_is_nobody_special() -> None:
    text = (DOCS / "Containerfile").read_text().replace("\\\n", " ")
    said = dict(re.findall(r"^([A-Z]+) (.*)$", text, re.M))
    assert json.loads(said["ENTRYPOINT"])[:2] == ["echomq-console", "consume"]
    assert said["USER"].split(":")[0] not in ("root", "0")
    assert said["STOPSIGNAL"] == "SIGTERM"
    assert "ECHOMQ_AUDIT=" in text
