"""The lines at the top: which server, how old the picture is, what may be done."""

from __future__ import annotations

from dataclasses import dataclass

from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import ServerIdentity
from echomq_console.model.text import duration, exact_duration, harmless
from echomq_widgets.views import Cell, HeaderView, Line

from .names import words

STALE_MS = 5_000
"""A picture older than this is said to be old, loudly."""


@dataclass(frozen=True, slots=True)
class Link:
    """How the way to the server is: `picture_age_ms` of the last good picture (None: none yet), the last poll's
    `seconds`, the `error` of the last poll that failed, and what was refused."""

    address: str
    identity: ServerIdentity | None = None
    picture_age_ms: int | None = None
    poll_seconds: float | None = None
    error: str | None = None
    problems: tuple[str, ...] = ()


def header_view(link: Link, thresholds: Thresholds, *, read_only: bool, title: str | None = None) -> HeaderView:
    """The first line of every screen. Its right side gives way from the left: the picture's age stays longest."""
    left = (Cell(f" {title or 'echomq'} ", "accent", bold=True), Cell(f" {harmless(link.address, 80)}"))
    right: list[Cell] = []
    if link.identity is not None and link.identity.product is not None:
        version = ".".join(map(str, link.identity.version or ()))
        role = "" if link.identity.role is None else f" {harmless(link.identity.role, 20)}"
        right.append(Cell(f"{harmless(link.identity.product, 20)} {version}{role} · ", "dim"))
    if link.poll_seconds is not None:
        right.append(Cell(f"poll {link.poll_seconds * 1000:.0f}ms · "))
    right.append(Cell(f"T {exact_duration(thresholds.job_ms)} · "))
    right += [_picture(link), Cell(" ")]
    if read_only:
        right.append(Cell(" ◼ READ-ONLY ", "warn", bold=True))
    return HeaderView(left, tuple(right))


def trouble_line(link: Link) -> Line | None:
    """What is wrong with the way to the server, in one line; None where nothing is."""
    if link.error is not None:
        seen = "" if link.picture_age_ms is None else f"   this picture is {duration(link.picture_age_ms)} old"
        return (Cell(f"✕ {words(link.error)}", "bad", bold=True), Cell(f"{seen}   trying again", "warn"))
    if link.problems:
        more = f"   (+{len(link.problems) - 1} more)" if len(link.problems) > 1 else ""
        return (Cell(f"◆ {words(link.problems[0])}{more}", "warn"),)
    return None


def _picture(link: Link) -> Cell:
    if link.picture_age_ms is None:
        return Cell("connecting…" if link.error is None else "no picture yet", "warn")
    age = duration(link.picture_age_ms // 1000 * 1000)
    if link.picture_age_ms >= STALE_MS:
        return Cell(f"▲ picture {age} old", "bad", bold=True)
    return Cell(f"picture {age} old", "dim")
