"""Textual widgets for consoles over anything: a table over a million rows, bars, text, and dialogs that ask twice.

Every widget draws a view, which is plain data (`echomq_widgets.views`), and knows nothing about where it came from.
Importing this package, `echomq_widgets.views`, `echomq_widgets.lines`, `echomq_widgets.bars` or
`echomq_widgets.sparkline` does not import Textual; the widgets are loaded by name when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from echomq_widgets.choice import Choice
    from echomq_widgets.header_bar import HeaderBar
    from echomq_widgets.histogram import Histogram
    from echomq_widgets.plan_dialog import PlanAnswer, PlanDialog
    from echomq_widgets.progress_dialog import ProgressDialog
    from echomq_widgets.sparkline import spark
    from echomq_widgets.table import WindowedTable
    from echomq_widgets.text_panel import TextBlock, TextPanel

__all__ = [
    "Choice",
    "HeaderBar",
    "Histogram",
    "PlanAnswer",
    "PlanDialog",
    "ProgressDialog",
    "TextBlock",
    "TextPanel",
    "WindowedTable",
    "spark",
]

_HOMES = {
    "Choice": "choice",
    "HeaderBar": "header_bar",
    "Histogram": "histogram",
    "PlanAnswer": "plan_dialog",
    "PlanDialog": "plan_dialog",
    "ProgressDialog": "progress_dialog",
    "TextBlock": "text_panel",
    "TextPanel": "text_panel",
    "WindowedTable": "table",
    "spark": "sparkline",
}


def __getattr__(name: str) -> object:
    """Load a public name from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
