"""Text drawn as it is, wrapped to the width there is."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from echomq_widgets.lines import wrap_line
from echomq_widgets.tones import TONE_CLASSES, Palette, tone_css
from echomq_widgets.views import Line, TextView


def wrapped(view: TextView, width: int) -> list[Line]:
    """Break every line of a text to a width."""
    return [piece for line in view.lines for piece in wrap_line(line, width)]


class TextBlock(Widget):
    """Text that is as high as it needs to be."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONE_CLASSES}
    DEFAULT_CSS = """
    TextBlock { height: auto; width: 1fr; background: transparent; color: $foreground; }
    """ + tone_css("TextBlock")

    def __init__(self, view: TextView | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._view = view or TextView(())
        self._lines: list[Line] = []
        self._lines_width = -1
        self._palette = Palette(self)

    @property
    def view(self) -> TextView:
        """The text that is shown."""
        return self._view

    def update_view(self, view: TextView) -> None:
        """Show another text."""
        if view != self._view:
            self._view = view
            self._lines_width = -1
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Count the lines at a width."""
        return len(self._wrapped(width))

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        lines = self._wrapped(self.size.width)
        return self._palette.line(lines[y] if y < len(lines) else (), self.size.width)

    def notify_style_update(self) -> None:
        """Look the styles up anew when the theme changes."""
        super().notify_style_update()
        self._palette.clear()

    def _wrapped(self, width: int) -> list[Line]:
        if width != self._lines_width:
            self._lines, self._lines_width = wrapped(self._view, width), width
        return self._lines


class TextPanel(ScrollView, can_focus=True):
    """Text of any length to scroll through: a finding, an entry, a help page."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {*TONE_CLASSES}
    DEFAULT_CSS = """
    TextPanel {
        height: 1fr;
        background: transparent;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 25%;
        scrollbar-background: $foreground 5%;
        &:ansi { scrollbar-color: $scrollbar; scrollbar-background: $scrollbar-background; }
    }
    """ + tone_css("TextPanel")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll_up", "Up", show=False),
        Binding("j", "scroll_down", "Down", show=False),
    ]

    def __init__(self, view: TextView | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._view = view or TextView(())
        self._lines: list[Line] = []
        self._palette = Palette(self)

    @property
    def view(self) -> TextView:
        """The text that is shown."""
        return self._view

    def update_view(self, view: TextView, *, from_top: bool = False) -> None:
        """Show another text, at the line the old one stood at, or from its top."""
        if view != self._view:
            self._view = view
            self._wrap()
        if from_top and self.is_mounted:
            self.scroll_to(y=0, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        place = self.scroll_offset.y + y
        return self._palette.line(self._lines[place] if place < len(self._lines) else (), self.size.width)

    def notify_style_update(self) -> None:
        """Look the styles up anew when the theme changes."""
        super().notify_style_update()
        self._palette.clear()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the text to the new width."""
        self._wrap()

    def _wrap(self) -> None:
        width = max(0, self.size.width - self.styles.scrollbar_size_vertical)
        self._lines = wrapped(self._view, width) if width else []
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()
