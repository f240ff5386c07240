"""Orders: what a command line that changes something asks for, and how it is to be confirmed and told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .aim import Aim

if TYPE_CHECKING:
    from echomq_console.model.action import Options, Target


@dataclass(frozen=True, slots=True)
class How:
    """How a command is confirmed, and how it tells what it does.

    `events`: "-" writes JSON lines to standard output, and nothing else. `confirmed`: an app that showed the plan and
    had it confirmed runs this command; `stop_on_eof`: it stops the run by closing standard input.
    """

    dry_run: bool = False
    yes: bool = False
    count: int | None = None
    as_json: bool = False
    events: str | None = None
    confirmed: bool = False
    stop_on_eof: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """What one command line asks for."""

    action: str
    aim: Aim
    target: Target
    options: Options
    how: How

    def work(self) -> int:
        """Do what was ordered."""
        from .writing import carry_out

        return carry_out(self)
