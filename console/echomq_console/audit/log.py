"""The audit log: JSON lines, appended and synced before and after every change; mode 0600, rotated by size.

One action is several lines that share an `audit_id`: `intent` (with the plan), `before` (the rows as they were),
`batch` (what happened to which entries) and `outcome`. Payloads are never stored. Every line is plain ASCII: a
name with escape sequences in it does nothing to the terminal that shows the file.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

ROTATE_BYTES = 16 * 1024 * 1024
"""A log larger than this is set aside under a dated name before the next action begins."""


class AuditError(Exception):
    """The log cannot be written or read; `str()` is one clear line. No audit, no write."""


def default_path() -> Path:
    """Where the log lives: `$ECHOMQ_AUDIT`, else the user's state directory."""
    chosen = os.environ.get("ECHOMQ_AUDIT")
    return Path(chosen) if chosen else Path(platformdirs.user_state_dir("echomq-console")) / "audit.jsonl"


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """One action being recorded; every call appends a line and waits until it is on the disk."""

    log: AuditLog
    audit_id: str

    def write(self, event: str, **said: Any) -> None:
        """Append a line. Raises AuditError."""
        self.log.append({"audit_id": self.audit_id, "event": event, **said})


class AuditLog:
    """The log of one user on one machine, shared by every console they run."""

    def __init__(self, path: Path | None = None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = path or default_path()
        self._now = now

    def begin(self, **intent: Any) -> AuditedAction:
        """Write the intent of an action, before anything changes. Raises AuditError: then nothing may be changed."""
        self._rotate()
        audited = AuditedAction(self, f"{self._now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}")
        audited.write("intent", **intent)
        return audited

    def append(self, line: dict[str, Any]) -> None:
        """Append one line and wait until it is on the disk. Raises AuditError."""
        said = {"at": self._now().isoformat(timespec="milliseconds"), **line}
        text = json.dumps(said, separators=(",", ":")) + "\n"
        with self._explained("written"), self._open() as descriptor:
            torn = not _ends_a_line(descriptor)  # a crash or a full disk cut the last line: it must not spoil this one
            _write_all(descriptor, (b"\n" if torn else b"") + text.encode("ascii"))
            os.fsync(descriptor)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Read every line, oldest first, set-aside files included; a torn last line is passed over."""
        with self._explained("read"):
            texts = [file.read_text("utf-8", "replace") for file in (*self._set_aside(), self.path) if file.exists()]
        for text in texts:
            for line in text.split("\n"):
                try:
                    said = json.loads(line)
                except ValueError:
                    continue
                if isinstance(said, dict):
                    yield said

    def _set_aside(self) -> list[Path]:
        """The files that were set aside, oldest first."""
        if not self.path.parent.is_dir():
            return []
        name = re.compile(re.escape(self.path.stem) + r"-\d{8}T\d{12}(\.\d+)?\.jsonl")
        found = [file for file in self.path.parent.iterdir() if name.fullmatch(file.name)]
        return sorted(found, key=lambda file: file.name.removesuffix(".jsonl"))

    @contextmanager
    def _open(self) -> Iterator[int]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)

    def _rotate(self) -> None:
        with self._explained("rotated"):
            if not self.path.exists() or self.path.stat().st_size <= ROTATE_BYTES:
                return
            with self._open() as descriptor:  # locked: of two consoles that come here at once, one sets it aside
                ours = os.fstat(descriptor)
                if ours.st_size > ROTATE_BYTES and self.path.exists() and os.path.samestat(ours, self.path.stat()):
                    self.path.rename(self._free_name())

    def _free_name(self) -> Path:
        """A dated name that no file has: setting aside never overwrites."""
        name = f"{self.path.stem}-{self._now():%Y%m%dT%H%M%S%f}"
        free, number = self.path.with_name(f"{name}.jsonl"), 0
        while free.exists():
            number += 1
            free = self.path.with_name(f"{name}.{number:04}.jsonl")
        return free

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise AuditError(
                f"the audit log {self.path} cannot be {what} ({reason}): nothing is changed without it; "
                "make room or permission there, or name another file in ECHOMQ_AUDIT"
            ) from None


def _ends_a_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
