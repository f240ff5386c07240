"""The colours: calm and dark; what is wrong stands out, everything else recedes."""

from __future__ import annotations

from textual.theme import Theme

THEME = Theme(
    name="echomq",
    primary="#5fb3b3",
    secondary="#7a9ec2",
    accent="#6cc7c7",
    warning="#e5b567",
    error="#f2777a",
    success="#8abf7f",
    foreground="#d5dae1",
    background="#0f1419",
    surface="#161c24",
    panel="#1c2430",
    dark=True,
)
