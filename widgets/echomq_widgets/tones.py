"""What each tone looks like, in every theme.

A tone is a component class (`tone--good`, …), so an app's stylesheet can change it. Hue is never alone: the words and
signs are in the text, and weight says the rest where colours are few or none.
"""

from __future__ import annotations

from typing import Final, get_args

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from echomq_widgets.lines import harmless
from echomq_widgets.views import Line, Tone

TONES: Final[tuple[Tone, ...]] = get_args(Tone)
TONE_CLASSES: Final[frozenset[str]] = frozenset(f"tone--{tone}" for tone in TONES)

_CSS = """
    & > .tone--plain { color: $foreground; }
    & > .tone--dim { color: $foreground 62%; }
    & > .tone--good { color: $text-success; }
    & > .tone--info { color: $text-primary; }
    & > .tone--warn { color: $text-warning; text-style: bold; }
    & > .tone--bad { color: $text-error; text-style: bold; }
    & > .tone--accent { color: $text-accent; }
    & > .tone--unknown { color: $foreground 62%; text-style: italic; }
    &:ansi > .tone--dim, &:ansi > .tone--unknown { color: ansi_default; text-style: dim; }
"""


def tone_css(widget: str) -> str:
    """Give the default style rules of the tones for a widget type, to be put at the end of its DEFAULT_CSS."""
    return f"{widget} {{{_CSS}}}\n"


class Palette:
    """The tones of one mounted widget, looked up once until the theme changes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[tuple[str, bool], Style] = {}

    def clear(self) -> None:
        """Forget every style, because the stylesheet changed."""
        self._styles.clear()

    def style(self, tone: Tone, bold: bool = False) -> Style:
        """Give the style of a tone on this widget."""
        return self.component(f"tone--{tone}", bold)

    def component(self, name: str, bold: bool = False) -> Style:
        """Give the style of a component class of this widget."""
        known = self._styles.get((name, bold))
        if known is None:
            known = self._widget.get_component_rich_style(name)
            if bold:
                known += Style(bold=True)
            self._styles[name, bold] = known
        return known

    def line(self, line: Line, width: int) -> Strip:
        """Draw a line of text as a strip of exactly `width` cells; the text is drawn as it is."""
        segments = [Segment(harmless(cell.text), self.style(cell.tone, cell.bold)) for cell in line if cell.text]
        return Strip(segments).adjust_cell_length(width, self.style("plain"))
