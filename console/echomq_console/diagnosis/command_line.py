"""Command lines: the exact one-shot command of a recovery, safe to paste whatever the names hold."""

from __future__ import annotations

from collections.abc import Sequence

from echomq_console.model.finding import Thresholds
from echomq_console.model.text import exact_duration, shell_word

PROGRAM = "echomq-console"
HANDLER = ("--handler", "MODULE:FUNCTION")
"""What the operator replaces by the service's own handler."""


def command_line(verb: str, words: Sequence[bytes], options: Sequence[str], thresholds: Thresholds) -> str:
    """Spell a command; "" where a word holds a NUL byte, which no command line can carry.

    Where T is not the one a command assumes, it is spelled out: pasted elsewhere, the command must mean the same. A
    word that begins with a dash would be taken for an option, so the words then stand behind `--`.
    """
    if thresholds.job_ms != Thresholds().job_ms:
        options = (*options, "--job-time", exact_duration(thresholds.job_ms))
    quoted = [word for word in map(shell_word, words) if word is not None]
    if len(quoted) < len(words):
        return ""
    if any(word.startswith(b"-") for word in words):
        return " ".join((PROGRAM, verb, *options, "--", *quoted))
    return " ".join((PROGRAM, verb, *quoted, *options))
