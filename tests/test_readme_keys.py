"""The README's table of keys is made from the registry that binds them."""

from __future__ import annotations

from pathlib import Path

from echomq_console.terminal.keys import ENTRY, EVERYWHERE, GROUP, GROUPS, TABLE, Key

BEGIN, END = "<!-- keys: begin -->", "<!-- keys: end -->"
README = Path(__file__).parent.parent / "README.md"


def table() -> str:
    """The table as it should stand."""
    parts: tuple[tuple[str, tuple[Key, ...]], ...] = (
        ("Everywhere", EVERYWHERE),
        ("In a list", TABLE),
        ("Groups", GROUPS),
        ("Group", GROUP),
        ("Entry", ENTRY),
    )
    lines = ["| where | key | what it does |", "|---|---|---|"]
    for where, keys in parts:
        lines += [f"| {where} | `{key.label}` | {key.sentence} |" for key in keys]
    return "\n".join(lines)


def test_the_readme_lists_the_keys_there_are() -> None:
    text = README.read_text("utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == table(), "run: python tests/test_readme_keys.py"


if __name__ == "__main__":
    head, begin, rest = README.read_text("utf-8").partition(BEGIN)
    README.write_text(f"{head}{begin}\n{table()}\n{END}{rest.partition(END)[2]}", "utf-8")
