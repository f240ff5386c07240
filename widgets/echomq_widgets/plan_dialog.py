"""The dialog between a plan and its run: what will happen, and Cancel as the default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from echomq_widgets.choice import Choice
from echomq_widgets.plan_words import (
    NAME_A_HANDLER,
    command_words,
    plan_words,
    read_count,
    refusal_words,
    sample_rows,
    title_words,
    wrong_count_words,
)
from echomq_widgets.table import WindowedTable
from echomq_widgets.text_panel import TextBlock
from echomq_widgets.views import Cell, PlanView, TextView

_MORE = TextView(((Cell("▾ more below, PgDn", "dim"),),))
_NOTHING = TextView(((),))


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """What was confirmed: the handler as it stands in its field, and the number that was typed."""

    handler: str | None = None
    count: int | None = None


class PlanDialog(ModalScreen["PlanAnswer | None"]):
    """Shows a plan and asks for it. Answers None when it is cancelled."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    PlanDialog {
        align: center middle;
        & > #plan {
            width: 94%;
            max-width: 116;
            height: auto;
            max-height: 100%;
            padding: 0 2;
            border: round $primary;
            background: $surface;
        }
        #plan-title { margin-bottom: 1; }
        #plan-body { height: auto; scrollbar-size-vertical: 1; }
        #plan-body { scrollbar-color: $foreground 25%; scrollbar-background: $foreground 5%; }
        &:ansi #plan-body { scrollbar-color: $scrollbar; scrollbar-background: $scrollbar-background; }
        #plan-sample { margin-top: 1; }
        #plan-foot { height: auto; margin-top: 1; }
        .plan-row { height: 1; }
        .plan-prompt { width: auto; padding-right: 1; color: $foreground; }
        #plan-space { width: 1fr; }
        #plan-handler { width: 1fr; }
        #plan-handler-row { margin-bottom: 1; }
        #plan-count { width: 14; }
        #plan Input { background: $foreground 9%; }
        #plan Input:focus { background: $primary 25%; }
        &:ansi #plan Input { background: ansi_default; text-style: underline; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("left", "app.focus_previous", "Left", show=False),
        Binding("right", "app.focus_next", "Right", show=False),
        Binding("up", "scroll_body(-1)", "Up", show=False),
        Binding("down", "scroll_body(1)", "Down", show=False),
        Binding("pageup", "scroll_body(-8)", "Page up", show=False),
        Binding("pagedown", "scroll_body(8)", "Page down", show=False),
    ]

    def __init__(self, view: PlanView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view
        self._problem: str | None = None

    @property
    def view(self) -> PlanView:
        """The plan that is shown."""
        return self._view

    def compose(self) -> ComposeResult:
        """Lay out the plan above, what is asked below."""
        view = self._view
        with Vertical(id="plan"):
            yield TextBlock(title_words(view, 0), id="plan-title")
            with VerticalScroll(id="plan-body", can_focus=False):
                yield TextBlock(plan_words(view), id="plan-words")
                if view.sample is not None:
                    sample = WindowedTable(sample_rows(view.sample), show_cursor=False, id="plan-sample")
                    sample.styles.height = sample.view.total + 1
                    yield sample
                yield TextBlock(command_words(view), id="plan-commands")
            with Vertical(id="plan-foot"):
                yield TextBlock(_NOTHING, id="plan-problem")
                yield from self._compose_questions()

    def _compose_questions(self) -> ComposeResult:
        view = self._view
        runnable = view.refusal is None
        if view.handler is not None and runnable:
            with Horizontal(id="plan-handler-row", classes="plan-row"):
                yield Static("Handler:", classes="plan-prompt", markup=False)
                yield Input(
                    view.handler,
                    "module:function or exec:COMMAND",
                    id="plan-handler",
                    compact=True,
                    select_on_focus=False,
                )
        with Horizontal(classes="plan-row"):
            if view.ask == "count" and runnable:
                yield Static("Type how many:", classes="plan-prompt", markup=False)
                yield Input(placeholder="_" * 10, id="plan-count", compact=True, max_length=20)
            yield Static("", id="plan-space")
            yield Choice("Cancel", id="plan-cancel")
            if runnable:
                yield Choice("Run", id="plan-run", disabled=view.ask == "count")

    def on_mount(self) -> None:
        """Put the focus where nothing can happen by accident."""
        if not self.query("#plan-cancel"):
            return  # closed by the key behind the one that opened it: its widgets are gone already
        self._first_field().focus()
        body = self.query_one("#plan-body", VerticalScroll)
        self.watch(body, "show_vertical_scrollbar", self._say, init=False)
        self.watch(body, "scroll_y", self._say, init=False)
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        """Keep the buttons in sight at any size."""
        self.call_after_refresh(self._fit)

    def _first_field(self) -> Input | Choice:
        view = self._view
        if view.refusal is None and view.handler is not None and not view.handler.strip():
            return self.query_one("#plan-handler", Input)
        if view.refusal is None and view.ask == "count":
            return self.query_one("#plan-count", Input)
        return self.query_one("#plan-cancel", Choice)

    def _fit(self) -> None:
        frame = self.query_one("#plan", Vertical)
        title, foot = self.query_one("#plan-title", TextBlock), self.query_one("#plan-foot", Vertical)
        body = self.query_one("#plan-body", VerticalScroll)
        title.update_view(title_words(self._view, frame.content_size.width))
        around = frame.styles.gutter.height + title.size.height + 1 + foot.size.height + 1
        body.styles.max_height = max(1, self.size.height - around)
        self._say()

    def _say(self) -> None:
        line = self.query_one("#plan-problem", TextBlock)
        body = self.query_one("#plan-body", VerticalScroll)
        if self._problem is not None:
            line.update_view(TextView(((Cell("✕ ", "bad"), Cell(self._problem, "bad")),)))
        elif self._view.refusal is not None:
            line.update_view(refusal_words(self._view.refusal))
        else:
            more = body.show_vertical_scrollbar and body.scroll_offset.y < body.max_scroll_y
            line.update_view(_MORE if more else _NOTHING)

    def _set_problem(self, problem: str | None) -> None:
        self._problem = problem
        self._say()

    def action_scroll_body(self, lines: int) -> None:
        """Scroll the plan, wherever the focus is."""
        self.query_one("#plan-body", VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_cancel(self) -> None:
        """Leave without running anything."""
        self.dismiss(None)

    @on(Choice.Pressed, "#plan-cancel")
    def _cancel_pressed(self) -> None:
        self.action_cancel()

    @on(Choice.Pressed, "#plan-run")
    def _run_pressed(self) -> None:
        self._run()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.input.id == "plan-count":
            self.query_one("#plan-run", Choice).disabled = read_count(event.value) != self._view.count
        if self._problem is not None:
            self._set_problem(None)

    @on(Input.Submitted, "#plan-handler")
    def _handler_entered(self, event: Input.Submitted) -> None:
        if not event.value.strip():
            self._set_problem(NAME_A_HANDLER)
        else:
            self.focus_next()

    @on(Input.Submitted, "#plan-count")
    def _count_entered(self) -> None:
        self._run()

    def _run(self) -> None:
        view = self._view
        if view.refusal is not None:
            return
        count = None
        if view.ask == "count":
            field = self.query_one("#plan-count", Input)
            count = read_count(field.value)
            if count != view.count:
                self._set_problem(wrong_count_words(field.value, view.count))
                field.focus()
                return
        handler = None
        if view.handler is not None:
            entered = self.query_one("#plan-handler", Input)
            handler = entered.value.strip()
            if not handler:
                self._set_problem(NAME_A_HANDLER)
                entered.focus()
                return
        self.dismiss(PlanAnswer(handler, count))
