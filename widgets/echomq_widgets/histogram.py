"""A histogram, in one line or a line for each bar."""

from __future__ import annotations

from typing import ClassVar

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from echomq_widgets.bars import histogram_line, histogram_lines
from echomq_widgets.tones import TONE_CLASSES, Palette, tone_css
from echomq_widgets.views import HistogramView, Line


class Histogram(Widget):
    """Label, bar and value of each range.

    In one line (the default) `title_width` aligns the bars of histograms under each other; with `one_line=False` each
    bar has a line of its own.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONE_CLASSES}
    DEFAULT_CSS = """
    Histogram { height: auto; width: 1fr; background: transparent; color: $foreground; }
    """ + tone_css("Histogram")

    def __init__(
        self,
        view: HistogramView | None = None,
        *,
        one_line: bool = True,
        title_width: int = 0,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._view = view or HistogramView("", ())
        self._one_line = one_line
        self._title_width = title_width
        self._palette = Palette(self)

    @property
    def view(self) -> HistogramView:
        """The histogram that is shown."""
        return self._view

    def update_view(self, view: HistogramView) -> None:
        """Show another histogram."""
        if view != self._view:
            self._view = view
            self.refresh(layout=not self._one_line)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Count the lines."""
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        lines = self._lines(self.size.width)
        return self._palette.line(lines[y] if y < len(lines) else (), self.size.width)

    def notify_style_update(self) -> None:
        """Look the styles up anew when the theme changes."""
        super().notify_style_update()
        self._palette.clear()

    def _lines(self, width: int) -> tuple[Line, ...]:
        if self._one_line:
            return (histogram_line(self._view, width, self._title_width),)
        return histogram_lines(self._view, width)
