"""What every screen has: the header, the line for trouble, the footer with its keys, and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen

from echomq_console.model.action import Target
from echomq_console.model.finding import Finding, Thresholds
from echomq_console.present.header import Link, header_view, trouble_line
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.lines import crop_line, line_width
from echomq_widgets.views import Cell, HeaderView, Line

from .keys import EVERYWHERE, Key
from .messages import ActionWanted, RefreshWanted
from .picture import Picture

WIDE = 100
"""Columns from which a screen shows two things side by side, or one above the other in full."""

TALL = 30
"""Lines from which there is room for explanations."""

READ_ONLY = "read-only: start without --read-only to change anything"


class ConsoleScreen(Screen[None]):
    """The base of the console's screens. A screen draws what it is shown; it knows no server."""

    KEYS: ClassVar[tuple[Key, ...]] = ()
    TITLE_WORDS: ClassVar[str] = ""

    def __init__(self, thresholds: Thresholds, picture: Picture, *, read_only: bool) -> None:
        super().__init__()
        self.thresholds = thresholds
        self.picture = picture
        self.read_only = read_only
        self._was_laid_out = False
        self._link: tuple[Link, str | None] | None = None

    def compose(self) -> ComposeResult:
        """Lay the frame around the screen's own content."""
        yield HeaderBar(id="server")
        yield HeaderBar(id="trouble")
        yield from self.compose_content()
        yield HeaderBar(id="keys")

    def compose_content(self) -> ComposeResult:
        """The screen's own content."""
        yield from ()

    @property
    def is_laid_out(self) -> bool:
        """Whether the screen's widgets are there: not before it is mounted, and not while it is taken down."""
        return self._was_laid_out and self.display

    def start(self) -> None:
        """What a screen does once its widgets are there, before it draws for the first time."""

    def on_mount(self) -> None:
        """Draw what is known already: nobody waits for the next poll."""
        if not self.query("#keys"):
            return  # closed by the key behind the one that opened it: its widgets are gone already
        self._was_laid_out = True
        self.start()
        if self._link is not None:
            self.show_link(*self._link)
        self.draw_keys()
        self.show_picture(self.picture)

    def on_resize(self) -> None:
        """Show as many keys as fit."""
        if self.is_laid_out:
            self.draw_keys()
            if self._link is not None:
                self.show_link(*self._link)

    def show_link(self, link: Link, title: str | None) -> None:
        """Draw the header and, where there is trouble, its line."""
        self._link = link, title
        if not self.is_laid_out:
            return
        self.query_one("#server", HeaderBar).update_view(
            header_view(link, self.thresholds, read_only=self.read_only, title=title)
        )
        line = trouble_line(link)
        trouble = self.query_one("#trouble", HeaderBar)
        trouble.display = line is not None
        if line is not None:
            said = (Cell(" "), *line[:1])
            trouble.update_view(HeaderView((*crop_line(said, self.size.width - line_width(line[1:])), *line[1:])))
        self.set_class(link.error is not None, "stale")

    def show_picture(self, picture: Picture) -> None:
        """Take a new picture and draw it."""
        self.picture = picture

    def groups_on_screen(self) -> Sequence[tuple[bytes, bytes]]:
        """The groups (stream, name) an operator looks at just now."""
        return ()

    def want(self, action: str, target: Target | None, hint: str) -> None:
        """Ask for an action, or say what to do first where there is no target."""
        if self.read_only:
            self.notify(READ_ONLY, severity="warning", markup=False)
        elif target is None:
            self.notify(hint, markup=False)
        else:
            self.post_message(ActionWanted(action, target))

    def action_refresh(self) -> None:
        """Look again now."""
        self.post_message(RefreshWanted())

    def action_help(self) -> None:
        """List the keys of this screen."""
        from .help import HelpScreen

        self.app.push_screen(HelpScreen(self.TITLE_WORDS, self.KEYS, read_only=self.read_only))

    def draw_keys(self) -> None:
        """Draw the footer: whole keys only, the rest is in the help."""
        self.query_one("#keys", HeaderBar).update_view(HeaderView(_fitting(self.footer_keys(), self.size.width)))

    def footer_keys(self) -> Sequence[Key]:
        """The keys of the footer, the two that must never be cut off first."""
        first = [key for key in EVERYWHERE if key.word in ("help", "quit")]
        rest = [key for key in self.KEYS if key.word and key not in first and not (self.read_only and key.writes)]
        return (*first, *rest)


def _fitting(keys: Sequence[Key], width: int) -> Line:
    shown: Line = ()
    for key in keys:
        gap = "  " if shown else " "
        longer = (*shown, Cell(f"{gap}{key.label} ", "accent", bold=True), Cell(key.word, "dim"))
        if line_width(longer) > width:
            break
        shown = longer
    return shown


def target_of_finding(findings: Sequence[Finding], rule: str) -> Finding | None:
    """The worst finding of a rule."""
    return next((finding for finding in findings if finding.rule == rule), None)
