"""The program: every command by name, and what runs when none is named."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import typer

from .app import start_app
from .audit import audit
from .autoclaim import autoclaim
from .boundary import guarded
from .consume import consume
from .consumers import consumers
from .dead_letter import dead_letter
from .dead_letters import dead_letters
from .demo import demo
from .diagnose import diagnose
from .drain import drain
from .groups import groups
from .options import HandlerOption, JobTimeOption, ReadOnlyOption, Root, UrlOption, Work
from .pending import pending

READING = "Look"
WRITING = "Recover"
RUNNING = "Run"
"""The panels of the help."""

app = typer.Typer(
    name="echomq-console",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _unfolded(command: Callable[..., Work | None]) -> str:
    """Give a command's docstring with each paragraph on one line, to be folded by the terminal."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(command.__doc__ or "").split("\n\n"))


def start(
    ctx: typer.Context,
    *,
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    handler: HandlerOption = None,
    read_only: ReadOnlyOption = False,
    version: Annotated[bool, typer.Option("--version", help="Say the version and end.")] = False,
) -> Work | None:
    """Watch Valkey Streams consumer groups, see what is stuck and why, and get it moving again.

    Without a command the terminal app starts. Exit status: 0 well; 1 and 2 a diagnosis (warnings, critical); 3 anything
    that went wrong, with one line that says what to do; 130 after ctrl-c.
    """
    ctx.obj = Root(url=url, job_time=job_time, handler=handler, read_only=read_only)
    if version:
        return _say_version
    return None if ctx.invoked_subcommand is not None else partial(start_app, ctx.obj)


app.callback(invoke_without_command=True, help=_unfolded(start))(start)


def _say_version() -> int:
    from echomq_console import __version__

    sys.stdout.write(f"echomq-console {__version__}\n")
    return 0


_COMMANDS: tuple[tuple[str, Callable[..., Work], str | None], ...] = (
    ("demo", demo, None),
    ("groups", groups, READING),
    ("consumers", consumers, READING),
    ("pending", pending, READING),
    ("dead-letters", dead_letters, READING),
    ("diagnose", diagnose, READING),
    ("audit", audit, READING),
    ("drain", drain, WRITING),
    ("autoclaim", autoclaim, WRITING),
    ("dead-letter", dead_letter, WRITING),
    ("consume", consume, RUNNING),
)
for _name, _command, _panel in _COMMANDS:
    app.command(_name, help=_unfolded(_command), rich_help_panel=_panel)(_command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit status. Whatever goes wrong is one line on standard error."""
    return guarded(partial(_run, arguments))


def _run(arguments: Sequence[str]) -> object:
    """Parse, then work: what a command does is no business of the parser, which has its own ideas of errors."""
    command = typer.main.get_command(app)
    parsed = command.main(args=list(arguments), prog_name="echomq-console", standalone_mode=False)
    return parsed() if callable(parsed) else parsed
