"""States: each has a sign, a word and a tone, so that none rests on its hue alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from echomq_console.model.finding import ConsumerCondition, Finding, Health, Severity
from echomq_widgets.views import Cell, Tone


class Sign(NamedTuple):
    """A sign, the word beside it, and its tone."""

    sign: str
    word: str
    tone: Tone

    def cell(self) -> Cell:
        """Sign and word as a cell."""
        return Cell(f"{self.sign} {self.word}", self.tone, bold=self.tone == "bad")


_BY_HEALTH = {
    Health.CRITICAL: Sign("▲", "stuck", "bad"),
    Health.WARNING: Sign("◆", "look", "warn"),
    Health.INFO: Sign("○", "note", "info"),
    Health.WELL: Sign("●", "well", "good"),
    Health.UNKNOWN: Sign("?", "unknown", "unknown"),
}
_WORDS = {"poison": "poison", "stalled": "stalled", "ghosts": "ghosts", "silent": "silent"}
_BY_SEVERITY = {
    Severity.CRITICAL: Sign("▲", "", "bad"),
    Severity.WARNING: Sign("◆", "", "warn"),
    Severity.INFO: Sign("○", "", "info"),
}
_BY_CONDITION = {
    ConsumerCondition.READING: Sign("●", "reading", "good"),
    ConsumerCondition.QUIET: Sign("○", "quiet", "dim"),
    ConsumerCondition.SILENT: Sign("◆", "silent", "warn"),
    ConsumerCondition.GONE: Sign("✕", "gone", "bad"),
    ConsumerCondition.UNKNOWN: Sign("?", "unknown", "unknown"),
}
ORDER = (Health.CRITICAL, Health.WARNING, Health.UNKNOWN, Health.INFO, Health.WELL)
"""Worst first; what could not be read stands before what is fine."""


def health_sign(health: Health, findings: Iterable[Finding] = ()) -> Sign:
    """How a group's health is shown; the worst finding may give a better word than the health."""
    sign = _BY_HEALTH[health]
    worst = max(findings, key=lambda f: f.severity, default=None)
    if worst is not None and health in (Health.CRITICAL, Health.WARNING):
        return sign._replace(word=_WORDS.get(worst.rule, sign.word))
    return sign


def severity_sign(severity: Severity) -> Sign:
    """The sign before a finding."""
    return _BY_SEVERITY[severity]


def condition_sign(condition: ConsumerCondition) -> Sign:
    """How a consumer's state is shown."""
    return _BY_CONDITION[condition]
