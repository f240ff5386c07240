"""Findings in words: what is wrong, the evidence, the recovery that fits, the key that starts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echomq_console.model.finding import Finding
from echomq_console.model.snapshot import GroupState
from echomq_console.model.text import duration, number
from echomq_widgets.lines import crop_line, line_width
from echomq_widgets.views import Cell, HeaderView, Line, TextView

from .names import command_text, words
from .states import severity_sign

RECOVERY_KEYS: Mapping[str, tuple[str, str]] = {
    "autoclaim": ("A", "autoclaim…"),
    "drain": ("D", "drain…"),
    "dead-letter": ("X", "dead-letter…"),
}
"""The key that starts a recovery in the app, and what the screen calls it."""


def finding_lines(finding: Finding, *, keys: bool = True) -> tuple[Line, ...]:
    """A finding in a few lines: the headline, the advice step by step, the key that starts the recovery."""
    sign = severity_sign(finding.severity)
    lines: list[Line] = [
        (Cell(f"{sign.sign} {finding.rule}: ", sign.tone, bold=True), Cell(finding.headline, bold=True))
    ]
    lines += [(Cell(f"  {step}"),) for step in finding.advice]
    key = RECOVERY_KEYS.get(finding.recovery.action)
    if keys and key is not None:
        lines.append((Cell("  "), Cell(f" {key[0]} ", "accent", bold=True), Cell(f" {key[1]}", "accent")))
    if finding.warning:
        lines.append((Cell(f"  {finding.warning}", "dim"),))
    return tuple(lines)


def finding_text(finding: Finding) -> TextView:
    """A finding in full: headline, explanation, evidence, advice, the command."""
    sign = severity_sign(finding.severity)
    evidence = " · ".join(f"{_name(key)} {_value(key, value)}" for key, value in finding.evidence.items())
    lines: list[Line] = [
        (Cell(f"{sign.sign} {finding.rule}: ", sign.tone, bold=True), Cell(finding.headline, bold=True)),
        (Cell(f"  {finding.explanation}"),),
        (Cell(f"  {evidence}", "dim"),),
        *((Cell(f"  → {step}"),) for step in finding.advice),
    ]
    if finding.warning:
        lines.append((Cell("  ! ", "warn", bold=True), Cell(finding.warning, "warn")))
    if finding.recovery.command:
        lines.append((Cell("  $ ", "dim"), Cell(command_text(finding.recovery.command), "accent")))
    return TextView(tuple(lines))


def nothing_found(group: GroupState | None) -> Line:
    """What is said of a group without findings: that is good news only where it was looked at."""
    if group is None:
        return (Cell("✕ ", "bad", bold=True), Cell("This group is not on the server any more."))
    if group.problem is not None:
        return (Cell("? ", "unknown"), Cell(f"Not known: {words(group.problem)}"))
    return (Cell("● ", "good"), Cell("Nothing is stuck here."))


def findings_text(title: str, findings: Sequence[Finding], nothing: Line, *, keys: bool = True) -> TextView:
    """What stands below the groups: the group under the cursor, and what is wrong with it, or else `nothing`."""
    lines: list[Line] = [(Cell(title, bold=True),)]
    for finding in findings:
        lines += finding_lines(finding, keys=keys)
    return TextView(tuple(lines) if findings else (*lines, nothing))


def folded(findings: Sequence[Finding], nothing: Line, width: int, *, keys: bool = True) -> HeaderView:
    """The worst finding in one line of `width` cells, its key always in sight; `nothing` where there is none."""
    if not findings:
        return HeaderView((Cell(" "), *nothing))
    first = findings[0]
    sign = severity_sign(first.severity)
    key = RECOVERY_KEYS.get(first.recovery.action) if keys else None
    more = f" (+{len(findings) - 1} more)" if len(findings) > 1 else ""
    hint = (Cell(f"   {key[0]} {key[1]}", "accent", bold=True),) if key else ()
    left = (Cell(f" {sign.sign} ", sign.tone, bold=True), Cell(first.headline + more))
    return HeaderView((*crop_line(left, width - line_width(hint) - 1), *hint))


def _name(key: str) -> str:
    return key.removesuffix("_ms").replace("_", " ")


def _value(key: str, value: int | str | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, int):
        return duration(value) if key.endswith("_ms") else number(value)
    return value
