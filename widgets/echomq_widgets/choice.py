"""A button of one line, whose highlight is seen without colour: `[ Cancel ]`."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from echomq_widgets.lines import line_width
from echomq_widgets.views import Cell


class Choice(Widget, can_focus=True):
    """A button. The one that Enter presses stands in brackets."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choice--label"}
    DEFAULT_CSS = """
    Choice {
        width: auto;
        height: 1;
        background: transparent;
        & > .choice--label { color: $foreground 75%; }
        &:focus > .choice--label { color: $foreground; background: $primary 35%; text-style: bold; }
        &.-danger > .choice--label { color: $text-warning; }
        &.-danger:focus > .choice--label { color: $text-warning; background: $warning 25%; text-style: bold; }
        &:disabled > .choice--label { color: $foreground 38%; text-style: none; }
        &:ansi:focus > .choice--label, &:nocolor:focus > .choice--label { text-style: bold reverse; }
        &:ansi:disabled > .choice--label { color: ansi_default; text-style: dim; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "Press", show=False)]

    class Pressed(Message):
        """The button was pressed."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

        @property
        def control(self) -> Choice:
            """The button."""
            return self.choice

    def __init__(
        self, label: str, *, id: str | None = None, classes: str | None = None, disabled: bool = False
    ) -> None:
        super().__init__(id=id, classes=classes, disabled=disabled)
        self._label = label

    @property
    def label(self) -> str:
        """The words on the button."""
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        if label != self._label:
            self._label = label
            self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Count the cells of the label and the brackets."""
        return line_width((Cell(self._label),)) + 4

    def render_line(self, y: int) -> Strip:
        """Draw the label, in brackets where it has the focus."""
        text = f"[ {self._label} ]" if self.has_focus else f"  {self._label}  "
        return Strip([Segment(text, self.get_component_rich_style("choice--label"))])

    def action_press(self) -> None:
        """Press the button."""
        self.post_message(self.Pressed(self))

    def on_click(self, event: events.Click) -> None:
        """Press the button with the mouse."""
        event.stop()
        self.action_press()
