"""What the command line itself refuses."""

from __future__ import annotations


class CommandLineError(Exception):
    """Something was asked that cannot be done; `str()` is one line that says what to do instead."""


class Misused(CommandLineError):
    """An option or an argument cannot be understood, or does not go with another."""


class NotConfirmed(CommandLineError):
    """A plan was not confirmed: nothing was changed."""


class Cancelled(CommandLineError):
    """The operator said no: nothing was changed."""


class Unfinished(CommandLineError):
    """An action ran, and not all of it was done."""


class CannotTell(CommandLineError):
    """What was asked for could not be looked at."""


class NoServer(CommandLineError):
    """No connection to the server at all."""
