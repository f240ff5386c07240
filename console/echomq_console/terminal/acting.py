"""Acting: plan, ask, run, say how it ended. The one road of every action in the app."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from echomq_console.model.action import Options, Outcome, Plan, Progress, Target
from echomq_console.model.text import harmless
from echomq_console.present.plans import outcome_lines, plan_view, progress_view
from echomq_widgets.plan_dialog import PlanAnswer, PlanDialog
from echomq_widgets.progress_dialog import ProgressDialog

if TYPE_CHECKING:
    from textual.app import App

    from .desk import Desk

LOG_LINES = 200
PAINTS_A_SECOND = 8


class Act:
    """One action on its way, from the key to the outcome. `handler` is what its field is filled with."""

    def __init__(self, app: App[int], desk: Desk, handler: str | None) -> None:
        self._app = app
        self._desk = desk
        self._handler = handler
        self.stop = asyncio.Event()
        self.outcome: Outcome | None = None
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._progress: Progress | None = None

    async def take(self, action: str, target: Target) -> str | None:
        """Go the whole road; the handler that was named, or None where it was not run."""
        from echomq_console.actions.catalogue import ACTIONS
        from echomq_console.actions.session import ActionRefused
        from echomq_console.audit.log import AuditError
        from echomq_console.engine.errors import EngineError
        from echomq_console.server.errors import ServerError

        try:
            plan = await self._desk.plan(action, target, Options(handler=self._handler))
            answer = await self._ask(plan, needs_handler=ACTIONS[action].needs_handler)
            if answer is None:
                return None
            plan = replace(plan, options=replace(plan.options, handler=answer.handler or None))
            await self._run(plan)
        except (ActionRefused, AuditError, EngineError, ServerError) as error:
            self._app.notify(harmless(str(error), 400), title="not run", severity="error", timeout=12, markup=False)
            return None
        return plan.options.handler

    async def _ask(self, plan: Plan, *, needs_handler: bool) -> PlanAnswer | None:
        self._app.clear_notifications()  # nothing may stand before the buttons
        return await self._app.push_screen_wait(PlanDialog(plan_view(plan, needs_handler=needs_handler)))

    async def _run(self, plan: Plan) -> None:
        nothing_yet = Progress(0, 0, 0, 0, plan.count)
        dialog = ProgressDialog(progress_view(plan, nothing_yet), can_pause=False)
        await self._app.push_screen(dialog)
        painter = asyncio.create_task(self._paint(plan, dialog))
        try:
            self.outcome = await self._desk.run(plan, self._take_progress, self.stop)
        except BaseException:
            if dialog.is_attached and dialog.is_current:
                self._app.pop_screen()
            raise
        finally:
            painter.cancel()
        lines = outcome_lines(self.outcome)
        if dialog.is_attached:
            view = progress_view(plan, self._progress or nothing_yet, tuple(self._log))
            dialog.show(replace(view, finished=True, outcome=lines))
        else:
            said = "\n".join("".join(cell.text for cell in line) for line in lines)
            self._app.notify(said, title=plan.action, timeout=12, markup=False)

    def _take_progress(self, progress: Progress) -> None:
        self._progress = progress
        if progress.line:
            self._log.append(progress.line)

    async def _paint(self, plan: Plan, dialog: ProgressDialog) -> None:
        """Draw a few times a second, however many entries pass."""
        drawn: Progress | None = None
        while True:
            await asyncio.sleep(1 / PAINTS_A_SECOND)
            if self._progress is not None and self._progress is not drawn and dialog.is_attached:
                drawn = self._progress
                dialog.show(progress_view(plan, drawn, tuple(self._log)))
