"""Confirming a plan: by a word, or by the number of entries where more is at stake."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from .errors import Cancelled, NotConfirmed

if TYPE_CHECKING:
    from echomq_console.model.action import Plan

_SEPARATORS = re.compile(r"[\s,._']")


def confirm(plan: Plan, *, yes: bool, count: int | None) -> None:
    """Return where the plan is confirmed. Raises NotConfirmed or Cancelled: nothing was changed then.

    A number that was given must be the plan's, whether it was needed or not.
    """
    if count is not None and count != plan.count:
        raise NotConfirmed(
            f"the plan is about {plan.count}, not {count}: nothing was changed (look at it again with --dry-run)"
        )
    if yes and (count is not None or not plan.needs_count):
        return
    if not _is_somebody_there():
        raise NotConfirmed(_how(plan))
    if plan.needs_count:
        _ask_for_number(plan)
    else:
        _ask(plan)


def _how(plan: Plan) -> str:
    needed = f"--yes --count {plan.count}" if plan.needs_count else "--yes"
    return f"not confirmed, nothing was changed: say {needed} if the plan is what you mean"


def _is_somebody_there() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _ask(plan: Plan) -> None:
    said = _answer(f"Run it on {_entries(plan)}? [y/N] ")
    if said.lower() not in ("y", "yes"):
        raise Cancelled("cancelled: nothing was changed")


def _ask_for_number(plan: Plan) -> None:
    said = _SEPARATORS.sub("", _answer(f"Type the number of entries ({plan.count:,}) to run it, or Enter to cancel: "))
    if not said:
        raise Cancelled("cancelled: nothing was changed")
    if not (said.isascii() and said.isdigit()) or int(said[:20]) != plan.count:
        raise NotConfirmed(f"{said[:20]!r} is not {plan.count}: nothing was changed")


def _answer(question: str) -> str:
    """Ask on standard error: standard output may be a file."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stderr.write("\n")
    return line.strip()


def _entries(plan: Plan) -> str:
    about = "" if plan.exact else "about "
    return f"{about}{plan.count:,} {'entry' if plan.count == 1 else 'entries'}"
