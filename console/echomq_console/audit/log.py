"""The audit log: JSON lines, appended and synced before and after every change; mode 0600, rotated by size.

One action is several lines that share an `audit_id`: `intent` (with the plan), `before` (the rows as they were),
`batch` (what happened to which entries) and `outcome`. Payloads are never stored.
"""

from __future__ import annotations

import fcntl
import json
import os
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
        text = json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"
        with self._explained("written"), self._open() as descriptor:
            _write_all(descriptor, text.encode("utf-8", "backslashreplace"))
            os.fsync(descriptor)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Read every line, oldest first, set-aside files included; a torn last line is passed over."""
        with self._explained("read"):
            files = [*sorted(self.path.parent.glob(f"{self.path.stem}-*.jsonl")), self.path]
            texts = [file.read_text("utf-8", "replace") for file in files if file.exists()]
        for text in texts:
            for line in text.splitlines():
                try:
                    yield json.loads(line)
                except ValueError:
                    continue

    @contextmanager
    def _open(self) -> Iterator[int]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)

    def _rotate(self) -> None:
        with self._explained("rotated"):
            if self.path.exists() and self.path.stat().st_size > ROTATE_BYTES:
                self.path.rename(self.path.with_name(f"{self.path.stem}-{self._now():%Y%m%dT%H%M%S%f}.jsonl"))

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


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
