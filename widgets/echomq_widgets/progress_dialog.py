"""The dialog of a run: how far it is, what it counts, and how to stop it."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from echomq_widgets.bars import bar
from echomq_widgets.choice import Choice
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.text_panel import TextBlock
from echomq_widgets.views import Cell, HeaderView, Line, ProgressView, TextView

_LOG_LINES = 8


def bar_line(view: ProgressView, width: int) -> Line:
    """Draw how far the run has come. The total is an estimate: what goes beyond it does not overflow the bar."""
    share = min(1.0, view.done / view.total) if view.total > 0 else float(view.finished)
    words = f"  {share:4.0%}   {view.done:,} of {max(view.done, view.total):,}"
    room = max(4, width - cell_len(words))
    drawn = bar(share, 1, room) if share else ""
    rest = "·" * (room - cell_len(drawn))
    return (Cell(drawn, "accent"), Cell(rest, "dim"), Cell(words, "plain", bold=True))


class ProgressDialog(ModalScreen[None]):
    """Shows a run. It closes when the run has finished, or is sent to the background.

    Its messages reach the app (a screen's parent): `on_progress_dialog_pause_wanted` and so on.
    """

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ProgressDialog {
        align: center middle;
        & > #progress {
            width: 94%;
            max-width: 116;
            height: auto;
            max-height: 100%;
            padding: 0 2;
            border: round $primary;
            background: $surface;
        }
        #progress-bar { margin: 1 0 0 0; }
        #progress-log { margin: 1 0; }
        #progress-keys { height: 1; }
        #progress-space { width: 1fr; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pause", "Pause", show=False),
        Binding("s", "stop", "Stop after this batch", show=False),
        Binding("b", "background", "Background", show=False),
        Binding("escape", "close", "Close", show=False),
        Binding("left", "app.focus_previous", "Left", show=False),
        Binding("right", "app.focus_next", "Right", show=False),
    ]

    class PauseWanted(Message):
        """Pause the run, or let it go on."""

        def __init__(self, paused: bool) -> None:
            super().__init__()
            self.paused = paused

    class StopWanted(Message):
        """Stop after the batch that is running."""

    class BackgroundWanted(Message):
        """Go on without the dialog, which has closed."""

    def __init__(self, view: ProgressView, *, can_pause: bool = True, id: str | None = None) -> None:
        """`can_pause`: whether somebody listens to `PauseWanted`; what cannot be done is not offered."""
        super().__init__(id=id)
        self._view = view
        self._can_pause = can_pause
        self._paused = False
        self._stopping = False

    @property
    def view(self) -> ProgressView:
        """The progress that is shown."""
        return self._view

    @property
    def paused(self) -> bool:
        """Whether a pause was asked for."""
        return self._paused

    def compose(self) -> ComposeResult:
        """Lay out the bar, the counts, the log and the keys."""
        with Vertical(id="progress"):
            yield HeaderBar(id="progress-title")
            yield TextBlock(id="progress-bar")
            yield TextBlock(id="progress-counts")
            yield TextBlock(id="progress-log")
            with Horizontal(id="progress-keys"):
                yield Static("", id="progress-space")
                yield Choice("p pause", id="progress-pause")
                yield Choice("s stop after this batch", id="progress-stop")
                yield Choice("b background", id="progress-background")
                yield Choice("Close", id="progress-close")

    def on_mount(self) -> None:
        """Show the first view."""
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Draw the bar for the new width."""
        self.call_after_refresh(self._draw)

    def show(self, view: ProgressView) -> None:
        """Show how far the run is now."""
        self._view = view
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        view = self._view
        width = self.query_one("#progress", Vertical).content_size.width
        title, target = Cell(view.title, bold=True), Cell(view.target, "accent", bold=True)
        self.query_one("#progress-title", HeaderBar).update_view(HeaderView((title,), (target,)))
        self.query_one("#progress-bar", TextBlock).update_view(TextView((bar_line(view, width),)))
        self.query_one("#progress-counts", TextBlock).update_view(TextView((view.counts,)))
        log = view.log[-_LOG_LINES:]
        self.query_one("#progress-log", TextBlock).update_view(TextView(view.outcome if view.finished else log))
        self._draw_keys()

    def _draw_keys(self) -> None:
        finished = self._view.finished
        pause, stop = self.query_one("#progress-pause", Choice), self.query_one("#progress-stop", Choice)
        background, close = self.query_one("#progress-background", Choice), self.query_one("#progress-close", Choice)
        pause.label = "p go on" if self._paused else "p pause"
        stop.label = "stopping after this batch" if self._stopping else "s stop after this batch"
        stop.disabled = self._stopping
        stop.display = background.display = not finished
        pause.display = not finished and self._can_pause
        close.display = finished
        if finished and not close.has_focus:
            close.focus()

    def action_pause(self) -> None:
        """Ask to pause the run, or to let it go on."""
        if self._can_pause and not self._view.finished:
            self._paused = not self._paused
            self.post_message(self.PauseWanted(self._paused))
            self._draw_keys()

    def action_stop(self) -> None:
        """Ask to stop after this batch."""
        if not self._view.finished and not self._stopping:
            self._stopping = True
            self.post_message(self.StopWanted())
            self._draw_keys()

    def action_background(self) -> None:
        """Let the run go on without the dialog."""
        if not self._view.finished:
            self.post_message(self.BackgroundWanted())
            self.dismiss(None)

    def action_close(self) -> None:
        """Close the dialog of a finished run."""
        if self._view.finished:
            self.dismiss(None)

    @on(Choice.Pressed)
    def _pressed(self, event: Choice.Pressed) -> None:
        event.stop()
        actions = {
            "progress-pause": self.action_pause,
            "progress-stop": self.action_stop,
            "progress-background": self.action_background,
            "progress-close": self.action_close,
        }
        actions[event.choice.id or "progress-close"]()
