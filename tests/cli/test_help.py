"""Help costs next to nothing, and every command has some."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import Command

COMMANDS = (
    *("demo", "groups", "consumers", "pending", "dead-letters", "diagnose", "audit"),
    *("drain", "autoclaim", "dead-letter", "consume"),
)

_LOADED = """
import sys
from echomq_console.cli import main
sys.argv = ["echomq-console", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    heavy = {"redis", "hiredis", "textual", "pandas", "asyncio"} & set(sys.modules)
    print("LOADED", sorted(heavy), ended.code)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["drain", "--help"], ["--version"]])
def test_help_imports_no_client_no_terminal_and_no_pandas(arguments: list[str]) -> None:
    said = subprocess.run([sys.executable, "-c", _LOADED, *arguments], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "LOADED [] 0"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_help_and_has_its_own(command: Command, name: str) -> None:
    assert f" {name} " in command("--help").out
    own = command(name, "--help")
    assert own.status == 0
    assert f"Usage: echomq-console {name}" in own.out


def test_the_childs_options_are_not_in_the_help(command: Command) -> None:
    said = command("drain", "--help").out
    assert "--events" in said
    assert "--confirmed" not in said
    assert "--stop-on-eof" not in said


def test_the_version(command: Command) -> None:
    from echomq_console import __version__

    assert command("--version").out == f"echomq-console {__version__}\n"
