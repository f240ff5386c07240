"""What every plan begins with: the group as it is now."""

from __future__ import annotations

from dataclasses import dataclass

from echomq_console.model.action import Target
from echomq_console.model.snapshot import ConsumerState
from echomq_console.server import commands

from .session import Session


@dataclass(frozen=True, slots=True)
class GroupNow:
    """A group's consumers by name, and how many entries it has pending."""

    consumers: dict[bytes, ConsumerState]

    @property
    def pending(self) -> int:
        """Entries pending in the group."""
        return sum(consumer.pending for consumer in self.consumers.values())


async def group_now(session: Session, target: Target) -> GroupNow:
    """Look at the group. Raises a ServerError with one clear line where stream or group do not exist."""
    from echomq_console.observe.look import require_group

    await require_group(session.wire, target.stream, target.group)
    consumers = await session.wire.ask(commands.group_consumers(target.stream, target.group))
    return GroupNow({consumer.name: consumer for consumer in consumers})
