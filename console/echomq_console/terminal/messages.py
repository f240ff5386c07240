"""Messages: how what was learned travels to the screens."""

from __future__ import annotations

from textual.message import Message

from echomq_console.model.action import Target
from echomq_console.model.dead_letter import DeadLetterEntry
from echomq_console.model.entry_id import EntryId


class ActionWanted(Message):
    """An operator asks for an action. The target was captured when the key went down, and is used as it is."""

    def __init__(self, action: str, target: Target) -> None:
        super().__init__()
        self.action = action
        self.target = target


class RefreshWanted(Message):
    """An operator wants a new picture now."""


class EntryWanted(Message):
    """An operator opens an entry: a pending one, or a dead letter (then `letter` is given)."""

    def __init__(self, stream: bytes, entry_id: EntryId, letter: DeadLetterEntry | None = None) -> None:
        super().__init__()
        self.stream = stream
        self.entry_id = entry_id
        self.letter = letter
