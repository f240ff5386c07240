"""The audit log: every line on the disk, none lost, none that a later reader cannot read."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echomq_console.audit import log as audit_log
from echomq_console.audit.log import AuditError, AuditLog, default_path

MOMENT = datetime(2026, 1, 27, 15, 11, 37, 641000, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log in a folder that does not exist yet."""
    return tmp_path / "state" / "audit.jsonl"


def test_one_action_is_lines_that_share_an_id(path: Path) -> None:
    log = AuditLog(path, now=lambda: MOMENT)
    audited = log.begin(action="drain", count=2)
    audited.write("outcome", done=2)
    assert list(log.lines()) == [
        {
            "at": "2026-01-27T15:11:37.641+00:00",
            "audit_id": audited.audit_id,
            "event": "intent",
            "action": "drain",
            "count": 2,
        },
        {"at": "2026-01-27T15:11:37.641+00:00", "audit_id": audited.audit_id, "event": "outcome", "done": 2},
    ]
    assert audited.audit_id.startswith("20260127-151137-")


def test_ids_differ_within_a_second(path: Path) -> None:
    log = AuditLog(path, now=lambda: MOMENT)
    assert len({log.begin().audit_id for _ in range(20)}) > 15


def test_only_the_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        AuditLog(path).begin(action="drain")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_it_is_appended_never_rewritten(path: Path) -> None:
    AuditLog(path).begin(action="first")
    first = path.read_bytes()
    AuditLog(path).begin(action="second")
    assert path.read_bytes().startswith(first)
    assert [line["action"] for line in AuditLog(path).lines()] == ["first", "second"]


def test_every_line_is_synced_after_it_was_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []

    def fsync(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    audited = AuditLog(path).begin(action="drain")
    for number in range(3):
        audited.write("batch", number=number)
    assert len(synced) == 4
    assert synced == sorted(set(synced))
    assert synced[-1] == path.stat().st_size


def test_what_takes_more_than_one_write_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    AuditLog(path).begin(action="drain", reason="x" * 100)
    assert [line["reason"] for line in AuditLog(path).lines()] == ["x" * 100]


@pytest.mark.parametrize("torn", [b'{"event":"ba', b"\xff\xfe", b'{"event":"batch"', b"5", b"null"])
def test_a_torn_last_line_costs_only_itself(path: Path, torn: bytes) -> None:
    log = AuditLog(path)
    log.begin(action="first")
    with path.open("ab") as file:
        file.write(torn)
    assert [line["action"] for line in log.lines()] == ["first"]
    log.begin(action="second")
    assert [line["action"] for line in log.lines()] == ["first", "second"]


HOSTILE = "\x1b]52;c;aGk=\x07 \x9b2J \u202e \u2028 \u2029 \x85 \x0b \x0c \x1c \r\n \udcff é 漢"


def test_text_of_any_kind_comes_back_and_does_nothing_meanwhile(path: Path) -> None:
    log = AuditLog(path)
    log.begin(action="drain", reason=HOSTILE)
    log.begin(action="drain", reason="after")
    assert [line["reason"] for line in log.lines()] == [HOSTILE, "after"]
    assert all(byte == 0x0A or 0x20 <= byte < 0x7F for byte in path.read_bytes())


def test_line_ends_of_other_alphabets_end_no_line(path: Path) -> None:
    """Another program may have written them as they are."""
    path.parent.mkdir()
    path.write_text('{"reason":"a\u2028b\x85c"}\n{"reason":"after"}\n', "utf-8")
    assert [line["reason"] for line in AuditLog(path).lines()] == ["a\u2028b\x85c", "after"]


def test_rotation_loses_no_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands: names would clash, and a rename over another file would lose what was in it."""
    monkeypatch.setattr(audit_log, "ROTATE_BYTES", 400)
    log = AuditLog(path, now=lambda: MOMENT)
    ids = [log.begin(number=number, text="x" * 200).audit_id for number in range(12)]
    assert [line["number"] for line in log.lines()] == list(range(12))
    assert [line["audit_id"] for line in log.lines()] == ids
    assert len(list(path.parent.iterdir())) == 6
    assert path.stat().st_size < 800


def test_two_consoles_that_find_it_too_large_set_it_aside_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one has the lock first: when this one gets it, the file it locked has another name."""
    log = AuditLog(path, now=lambda: MOMENT)
    log.begin(action="first")
    monkeypatch.setattr(audit_log, "ROTATE_BYTES", 10)
    flock = fcntl.flock

    def other_was_first(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        path.rename(path.with_name("audit-20260127T151137000000.jsonl"))
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", other_was_first)
    log.begin(action="second")
    assert sorted(file.name for file in path.parent.iterdir()) == ["audit-20260127T151137000000.jsonl", "audit.jsonl"]
    assert [line["action"] for line in log.lines()] == ["first", "second"]


def test_an_action_is_never_cut_by_rotation(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "ROTATE_BYTES", 300)
    audited = AuditLog(path).begin(action="drain")
    for _ in range(10):
        audited.write("batch", text="x" * 100)
    assert [file.name for file in path.parent.iterdir()] == ["audit.jsonl"]


def test_rotated_files_are_the_owners_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "ROTATE_BYTES", 10)
    for _ in range(3):
        AuditLog(path).begin()
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}
    assert len(list(path.parent.iterdir())) == 3


def test_another_log_beside_it_is_another_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "ROTATE_BYTES", 10)
    odd = path.with_name("audit[1].jsonl")
    for name in ("billing", "billing"):
        AuditLog(path.with_name("audit-billing.jsonl")).begin(action=name)
        AuditLog(odd).begin(action="odd")
    AuditLog(path).begin(action="mine")
    assert [line["action"] for line in AuditLog(path).lines()] == ["mine"]
    assert [line["action"] for line in AuditLog(odd).lines()] == ["odd", "odd"]


WRITER = """
import sys
from pathlib import Path
from echomq_console.audit import log

log.ROTATE_BYTES = int(sys.argv[3])
audit = log.AuditLog(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(60):
    audit.begin(who=sys.argv[2], number=number, text=sys.argv[2] * 5000)
"""


@pytest.mark.parametrize("rotate_at", [10**9, 20_000])
def test_two_processes_write_whole_lines(path: Path, rotate_at: int) -> None:
    """Both begin when told, so that they write at once; with a small limit both also set files aside."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), who, str(rotate_at)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in "ab"
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        assert [writer.wait(60) for writer in writers] == [0, 0]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert len([json.loads(line) for line in raw.splitlines()]) == 120
    lines = list(AuditLog(path).lines())
    for who in "ab":
        assert [line["number"] for line in lines if line["who"] == who] == list(range(60))
    assert all(line["text"] == line["who"] * 5000 for line in lines)


def test_an_empty_history_reads_as_empty(path: Path) -> None:
    assert list(AuditLog(path).lines()) == []


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    with pytest.raises(AuditError, match=r"Is a directory") as caught:
        log.begin(action="drain")
    _is_one_clear_line(str(caught.value), tmp_path)
    with pytest.raises(AuditError, match=r"cannot be read"):
        list(log.lines())


def test_a_file_where_its_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    log = AuditLog(tmp_path / "state" / "audit.jsonl")
    with pytest.raises(AuditError, match=r"cannot be written") as caught:
        log.begin(action="drain")
    _is_one_clear_line(str(caught.value), log.path)
    assert (tmp_path / "state").read_text() == "a file"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full on this system")
def test_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match=r"No space left on device"):
        AuditLog(Path("/dev/full")).append({"event": "intent"})


def test_a_disk_that_does_not_sync(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(AuditError, match=r"cannot be written \(Input/output error\)"):
        AuditLog(path).begin(action="drain")


def test_a_log_that_cannot_be_set_aside(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = AuditLog(path)
    log.begin(action="first")
    monkeypatch.setattr(audit_log, "ROTATE_BYTES", 10)

    def rename(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(AuditError, match=r"cannot be rotated \(Permission denied\)"):
        log.begin(action="second")
    assert [line["action"] for line in log.lines()] == ["first"]


def test_where_it_lives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ECHOMQ_AUDIT", str(tmp_path / "chosen.jsonl"))
    assert default_path() == tmp_path / "chosen.jsonl"
    assert AuditLog().path == tmp_path / "chosen.jsonl"
    monkeypatch.delenv("ECHOMQ_AUDIT")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_path().name == "audit.jsonl"
    assert "echomq-console" in default_path().parts


def _is_one_clear_line(text: str, path: Path) -> None:
    assert str(path) in text
    assert "nothing is changed without it" in text
    assert "\n" not in text
