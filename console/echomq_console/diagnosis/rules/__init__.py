"""The rules, one file each: a pure function from a case to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.model.finding import Finding

from .ghosts import ghosts
from .gone import gone
from .poison import poison
from .silent import silent
from .stalled import stalled
from .undrained import undrained

Rule = Callable[[Case], Iterator[Finding]]

RULES: tuple[Rule, ...] = (gone, silent, undrained, poison, stalled, ghosts)
