"""Findings in words: what is wrong, the evidence, the recovery that fits, the key that starts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echomq_console.model.finding import Finding
from echomq_console.model.text import duration, number
from echomq_widgets.views import Cell, Line, TextView

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
        lines.append((Cell("  $ ", "dim"), Cell(finding.recovery.command, "accent")))
    return TextView(tuple(lines))


def findings_text(title: str, findings: Sequence[Finding], *, keys: bool = True) -> TextView:
    """What stands below the groups: the group under the cursor, and what is wrong with it."""
    lines: list[Line] = [(Cell(title, bold=True),)]
    for finding in findings:
        lines += finding_lines(finding, keys=keys)
    if not findings:
        lines.append((Cell("● ", "good"), Cell("Nothing is stuck here.", "plain")))
    return TextView(tuple(lines))


def folded(findings: Sequence[Finding]) -> Line:
    """The worst finding in one line, for a small screen."""
    if not findings:
        return (Cell("● Nothing is stuck here.", "good"),)
    first = findings[0]
    sign = severity_sign(first.severity)
    key = RECOVERY_KEYS.get(first.recovery.action)
    more = f" (+{len(findings) - 1} more)" if len(findings) > 1 else ""
    hint = (Cell(f" {key[0]} {key[1]}", "accent", bold=True),) if key else ()
    return (Cell(f"{sign.sign} ", sign.tone, bold=True), Cell(first.headline + more), *hint)


def _name(key: str) -> str:
    return key.removesuffix("_ms").replace("_", " ")


def _value(key: str, value: int | str | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, int):
        return duration(value) if key.endswith("_ms") else number(value)
    return value
