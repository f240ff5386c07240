"""Whatever goes wrong is one line on standard error, says what to do, and ends with status 3."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from echomq_console.cli import looking
from echomq_console.server.embedded import EmbeddedServer

from .conftest import Command, Stuck


@pytest.fixture
def nowhere() -> str:
    """A URL where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return f"redis://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grops"], "no such command 'grops'"),
        (["groups", "--jsn"], "no such option: --jsn"),
        (["groups", "extra"], "extra"),
        (["drain", "a", "b"], "missing argument 'NAME'"),
        (["dead-letter", "a", "b"], "missing argument 'ID...'"),
        (["pending", "a", "b", "--limit", "many"], "--limit"),
        (["pending", "a", "b", "--limit", "0"], "--limit"),
        (["autoclaim", "a", "b", "--max-attempts", "0"], "--max-attempts"),
        (["demo", "--port", "70000"], "--port"),
        (["groups", "--job-time", "30"], "say a unit, like 30s"),
        (["autoclaim", "a", "b", "--min-idle", "soon"], "write 250ms, 30s, 5m or 1h30m"),
        (["dead-letter", "a", "b", "yesterday"], "an id looks like 1769526697641-0"),
        (["drain", "a", "b", "c", "--events", "file"], "--events takes only -"),
        (["drain", "a", "b", "c", "--events", "-", "--json"], "say one of them"),
        (["groups", "--url", "http://127.0.0.1"], "use redis://HOST:PORT"),
        (["groups", "--url", "redis://127.0.0.1:port"], "not a server's URL"),
        (["demo", "--scenario", "flood", "--no-app"], "choose incident"),
        (["--url", "redis://127.0.0.1:1", "demo", "--no-app"], "leave --url out"),
    ],
)
def test_what_cannot_be_understood(command: Command, arguments: list[str], said: str) -> None:
    assert said in command(*arguments).complaint()


def test_a_usage_error_names_the_help_to_look_at(command: Command) -> None:
    assert command("drain", "a").complaint().endswith("(see echomq-console drain --help)")


@pytest.mark.parametrize("arguments", [[], ["groups"], ["drain", "a", "b", "c"], ["diagnose", "--json"]])
def test_without_a_server_the_ways_out_are_named(command: Command, nowhere: str, arguments: list[str]) -> None:
    said = command("--url", nowhere, *arguments)
    complaint = said.complaint()
    assert nowhere in complaint
    assert "echomq-console demo" in complaint
    assert "--url" in complaint
    assert said.out == ""


def test_the_app_without_a_terminal_says_so(command: Command) -> None:
    assert "needs a terminal" in command().complaint()


def test_a_password_is_never_said(command: Command, nowhere: str) -> None:
    url = nowhere.replace("redis://", "redis://ops:hunter2@")
    assert "hunter2" not in command("groups", "--url", url).complaint()
    assert "hunter2" not in command("groups", "--url", "redis://ops:hunter2@host:port").complaint()


@pytest.mark.parametrize(
    "arguments",
    [
        ["consumers", "STREAM", "g"],
        ["pending", "STREAM", "g"],
        ["dead-letters", "STREAM"],
        ["diagnose", "STREAM"],
        ["diagnose", "STREAM", "g"],
        ["drain", "STREAM", "g", "web-1", "--yes"],
        ["autoclaim", "STREAM", "g", "--yes"],
        ["dead-letter", "STREAM", "g", "1-0", "--yes"],
    ],
)
def test_a_stream_that_is_not_there(command: Command, server: Any, stream: bytes, arguments: list[str]) -> None:
    typed = [os.fsdecode(stream) if word == "STREAM" else word for word in arguments]
    assert f"no stream '{os.fsdecode(stream)}'" in command(*typed).complaint()
    assert server.exists(stream) == 0
    server.set(stream, "text")
    assert " stream" in (complaint := command(*typed).complaint())
    assert "not a stream" in complaint or "no stream" in complaint


@pytest.mark.parametrize(
    "arguments",
    [["consumers"], ["pending"], ["diagnose"], ["drain", "web-1"], ["autoclaim"], ["dead-letter", "1-0"]],
)
def test_a_group_that_is_not_there(command: Command, stuck: Stuck, arguments: list[str]) -> None:
    name, *rest = arguments
    complaint = command(name, stuck.stream, "h", *rest).complaint()
    assert f"stream '{stuck.stream.decode()}' has no group 'h' (it has: g)" in complaint


def test_a_consumer_that_is_not_there(command: Command, stuck: Stuck, ok: str) -> None:
    stuck.add(1)
    for arguments in (
        ["drain", *stuck.names, "web-2", "--yes", "--handler", ok],
        ["pending", *stuck.names, "--consumer", "web-2"],
    ):
        assert "has no consumer 'web-2' (it has: web-1)" in command(*arguments).complaint()
    assert [row["name"] for row in stuck.server.xinfo_consumers(stuck.stream, "g")] == [b"web-1"]


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (None, "--handler module:function"),
        ("handle", "not a handler"),
        ("no_such_module_here:handle", "no module 'no_such_module_here'"),
        ("json:handle", "the module 'json' has no 'handle'"),
        ("exec:no-such-program-here", "no program"),
    ],
)
def test_a_handler_that_is_not_there(command: Command, stuck: Stuck, handler: str | None, said: str) -> None:
    stuck.add(1)
    before = stuck.rows()
    options = [] if handler is None else ["--handler", handler]
    assert said in command("drain", *stuck.names, "web-1", "--yes", *options).complaint()
    assert stuck.rows() == before


def test_a_handler_whose_import_fails_or_exits(
    command: Command, stuck: Stuck, handlers: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    stuck.add(1)
    before = stuck.rows()
    for source, said in (("raise OSError('no config')", "OSError: no config"), ("sys.exit(4)", "called exit(4)")):
        named = handlers(source)
        assert said in command("drain", *stuck.names, "web-1", "--yes", "--handler", named).complaint()
    assert stuck.rows() == before


@pytest.mark.parametrize(
    ("rules", "arguments", "denied"),
    [
        (["+@all", "-xinfo"], ["groups"], None),
        (["+@all", "-xinfo"], ["consumers", "STREAM", "g"], "XINFO"),
        (["+@all", "-xinfo"], ["diagnose"], "XINFO"),
        (["+@all", "-xinfo"], ["diagnose", "STREAM"], "XINFO"),
        (["+@all", "-xinfo|consumers"], ["diagnose", "STREAM", "g"], "1 of 1 groups could not be read"),
        (["+@all", "-xpending"], ["pending", "STREAM", "g"], "XPENDING"),
        (["+@read", "-@dangerous", "+xinfo"], ["drain", "STREAM", "g", "web-1", "--yes", "--handler", "OK"], "XACK"),
        (["+@read", "-@dangerous", "+xinfo"], ["dead-letter", "STREAM", "g", "ID", "--yes"], "XACK"),
    ],
)
def test_what_the_user_may_not_do(
    command: Command,
    stuck: Stuck,
    valkey: EmbeddedServer,
    ok: str,
    *,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    rules: list[str],
    arguments: list[str],
    denied: str | None,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (entry_id,) = stuck.add(1)
    before = stuck.rows()
    stuck.server.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">secret", "~*", *rules)
    words = {"STREAM": os.fsdecode(stuck.stream), "OK": ok, "ID": entry_id}
    url = valkey.url.replace("redis://", "redis://looker:secret@")
    said = command("--url", url, *(words.get(word, word) for word in arguments))
    assert "Traceback" not in said.err
    if denied is None:
        assert said.status == 0
        assert "XINFO" in said.err
    else:
        complaint = [line for line in said.err.splitlines() if "note: " not in line]
        assert said.status == 3
        assert len(complaint) == 1, said.err
        assert denied in complaint[0]
        assert "+" in complaint[0]
    assert stuck.rows() == before


def test_wrong_credentials(command: Command, valkey: EmbeddedServer) -> None:
    url = valkey.url.replace("redis://", "redis://looker:wrong@")
    assert "check the user and the password" in command("groups", "--url", url).complaint()


def test_no_audit_no_write(command: Command, stuck: Stuck, audit_path: Path, ok: str, tmp_path: Path) -> None:
    audit_path.parent.mkdir(parents=True)
    audit_path.mkdir()  # a folder where the file should be
    (entry_id,) = stuck.add(1)
    before = stuck.rows()
    for arguments in (
        ["drain", *stuck.names, "web-1", "--handler", ok, "--yes"],
        ["autoclaim", *stuck.names, "--handler", ok, "--yes", "--count", "1"],
        ["dead-letter", *stuck.names, entry_id, "--yes", "--count", "1"],
    ):
        complaint = command(*arguments).complaint()
        assert str(audit_path) in complaint
        assert "nothing is changed without it" in complaint
    assert stuck.rows() == before
    assert str(audit_path) in command("audit").complaint()


def test_an_action_that_is_not_in_the_log(command: Command) -> None:
    assert "no action 20260101-000000-beef" in command("audit", "20260101-000000-beef").complaint()


def test_read_only_changes_nothing(command: Command, stuck: Stuck, ok: str, audit_path: Path) -> None:
    (entry_id,) = stuck.add(1)
    before = stuck.rows()
    for arguments in (
        ["drain", *stuck.names, "web-1", "--handler", ok, "--yes"],
        ["dead-letter", *stuck.names, entry_id],
    ):
        assert "read-only" in command("--read-only", *arguments).complaint()
    assert stuck.rows() == before
    assert not audit_path.exists()


def test_an_error_quotes_nothing_that_drives_a_terminal(command: Command) -> None:
    complaint = command("consumers", b"\x1b]0;owned\x07\xff\n[/x]", "g").complaint()
    assert complaint.isprintable()
    assert r"\x1b]0;owned\x07\xff\n[/x]" in complaint


def test_the_unexpected_is_one_line_and_keeps_its_details(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a defect\nof \x1btwo lines")

    monkeypatch.setattr(looking, "look", broken)
    kept = tmp_path / "state" / "echomq-console" / "last-error.txt"
    complaint = command("groups").complaint()
    assert complaint == f"unexpected ZeroDivisionError: a defect of two lines (the details are in {kept})"
    assert "Traceback" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("ECHOMQ_DEBUG", "1")
    said = command("groups")
    assert said.status == 3
    assert "Traceback" in said.err
    assert said.err.splitlines()[-1] == "echomq-console: unexpected ZeroDivisionError: a defect of two lines"


def test_the_unexpected_without_a_place_for_its_details(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(looking, "look", broken)
    (tmp_path / "state").write_text("no folder")
    assert command("groups").complaint() == "unexpected ZeroDivisionError (ECHOMQ_DEBUG=1 shows the details)"


def test_ctrl_c_is_quiet(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(looking, "look", interrupted)
    said = command("groups")
    assert (said.status, said.out, said.err) == (130, "", "")


@pytest.mark.parametrize("arguments", [["groups"], ["groups", "--json"], ["--help"]])
def test_nobody_reads_the_answer(start: Callable[..., Any], stuck: Stuck, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    started = start(*arguments, stdout=writing)
    os.close(writing)
    started.process.wait(60)
    assert started.process.stderr.read() == b""
    assert started.process.returncode == 141
