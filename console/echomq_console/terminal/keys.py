"""The keys: one registry that binds them, and that the help screen and the README list.

Writes are on capital letters, far from the reading keys.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a screen: what it does in a word for the footer, and in a sentence for the help."""

    key: str
    action: str
    word: str
    sentence: str
    writes: bool = False
    shown: str = ""

    @property
    def label(self) -> str:
        """What people call the key."""
        return self.shown or self.key

    def binding(self) -> Binding:
        """The key as Textual binds it."""
        return Binding(self.key, self.action, self.word, show=False)


EVERYWHERE = (
    Key("question_mark", "help", "help", "list every key of this screen", shown="?"),
    Key("r", "refresh", "refresh", "look again now"),
    Key("q", "app.quit", "quit", "leave the console"),
)
TABLE = (
    Key("up", "", "", "one row up (also k)", shown="↑"),
    Key("down", "", "", "one row down (also j)", shown="↓"),
    Key("pageup", "", "", "one page up", shown="PgUp"),
    Key("pagedown", "", "", "one page down", shown="PgDn"),
    Key("home", "", "", "the first row", shown="Home"),
    Key("end", "", "", "the last row", shown="End"),
)
_AUTOCLAIM = Key(
    "A",
    "act_autoclaim",
    "autoclaim",
    "recover peers: claim what is idle past T, process it here",
    writes=True,
)
_DRAIN = Key("D", "act_drain", "drain", "recover self: process a consumer's idle entries under its name", writes=True)
_DEAD = Key(
    "X", "act_dead_letter", "dead-letter", "move entries that break their handler to the dead letters", writes=True
)
GROUPS = (
    Key("enter", "", "open", "open the group", shown="⏎"),
    _AUTOCLAIM,
    _DRAIN,
    _DEAD,
    Key("slash", "filter", "filter", "show only groups whose name holds a text", shown="/"),
    Key("escape", "all", "", "leave the filter: all groups again", shown="Esc"),
    Key("s", "sort", "sort", "sort by the next column; once around is worst first again"),
)
FILTERING = (
    Key("enter", "", "keep the filter", "", shown="⏎"),
    Key("escape", "all", "all groups", "", shown="Esc"),
)
"""What the footer says while the filter's field has the focus: every other key is typed."""
GROUP = (
    Key("escape", "back", "back", "back to all groups", shown="Esc"),
    Key("tab", "next_tab", "next", "the next tab", shown="Tab"),
    Key("1", "tab('consumers')", "", "the consumers"),
    Key("2", "tab('pending')", "", "the pending list"),
    Key("3", "tab('dead')", "", "the dead letters"),
    Key("4", "tab('findings')", "", "the findings in full"),
    Key("enter", "", "look", "a consumer's pending entries, an entry in full", shown="⏎"),
    _AUTOCLAIM,
    _DRAIN,
    _DEAD,
    Key("space", "", "mark", "mark or unmark the entry (pending)", shown="Space"),
)
ENTRY = (
    Key("escape", "back", "back", "back to the list", shown="Esc"),
    Key("tab", "app.focus_next", "other side", "to the other side", shown="Tab"),
)


def bindings(*groups: tuple[Key, ...]) -> list[BindingType]:
    """The keys of a screen as Textual binds them; those that a widget handles itself are only listed."""
    return [key.binding() for group in groups for key in group if key.action]
