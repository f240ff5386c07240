"""One line with two sides."""

from __future__ import annotations

from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from echomq_widgets.lines import crop_line, line_width
from echomq_widgets.tones import TONE_CLASSES, Palette, tone_css
from echomq_widgets.views import Cell, HeaderView, Line

_GAP = 2
_LEAST_RIGHT = 4
_SEPARATORS = " ·│|"


def header_line(view: HeaderView, width: int) -> Line:
    """Lay both sides out in `width` cells.

    When it gets narrow the right side gives way, its first runs before its last: the last is nearest to the edge and
    says what matters longest. Only then the left side is cut.
    """
    left = crop_line(view.left, width)
    right = _shrunk(view.right, width - line_width(left) - _GAP)
    space = width - line_width(left) - line_width(right)
    return (*left, Cell(" " * space), *right)


def _shrunk(right: Line, room: int) -> Line:
    while right and line_width(right) > room:
        if len(right) == 1:
            return crop_line(right, room) if room >= _LEAST_RIGHT else ()
        first = right[1]
        right = (Cell(first.text.lstrip(_SEPARATORS), first.tone, first.bold), *right[2:])
        if not first.text.strip(_SEPARATORS):
            right = right[1:] or right
    return right


class HeaderBar(Widget):
    """The line at the top of a screen."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONE_CLASSES}
    DEFAULT_CSS = """
    HeaderBar { height: 1; width: 1fr; background: transparent; color: $foreground; }
    """ + tone_css("HeaderBar")

    def __init__(self, view: HeaderView | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._view = view or HeaderView(())
        self._palette = Palette(self)

    @property
    def view(self) -> HeaderView:
        """The line that is shown."""
        return self._view

    def update_view(self, view: HeaderView) -> None:
        """Show another line."""
        if view != self._view:
            self._view = view
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        return self._palette.line(header_line(self._view, self.size.width) if y == 0 else (), self.size.width)

    def notify_style_update(self) -> None:
        """Look the styles up anew when the theme changes."""
        super().notify_style_update()
        self._palette.clear()
