"""The command line: arguments in, one face or one answer out. Everything but the parser is loaded when it is needed."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line and end with its exit status."""
    import sys

    from .program import run

    sys.exit(run(sys.argv[1:]))
