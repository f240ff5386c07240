"""Confirming: by a word, or by the number of entries."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Callable
from typing import Any

import pytest

from echomq_console.cli import confirming
from echomq_console.cli.confirming import confirm
from echomq_console.cli.errors import Cancelled, NotConfirmed
from echomq_console.model.action import Options, Plan, Target

from .conftest import Command, Stuck


def plan(count: int, *, needs_count: bool) -> Plan:
    return Plan(
        action="drain",
        target=Target(b"s", b"g", b"c"),
        options=Options(),
        actor="ops@host",
        count=count,
        exact=True,
        sample=(),
        owners={},
        effects=(),
        untouched=(),
        reassurances=(),
        warnings=(),
        commands=(),
        needs_count=needs_count,
    )


SMALL, LARGE = plan(12, needs_count=False), plan(1204, needs_count=True)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sit at a terminal, and type this."""

    def typed(text: str) -> None:
        monkeypatch.setattr(confirming, "_is_somebody_there", lambda: True)
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return typed


def test_yes_is_enough_for_a_small_plan() -> None:
    confirm(SMALL, yes=True, count=None)
    confirm(SMALL, yes=True, count=12)


def test_yes_alone_is_not_enough_where_the_number_is_wanted() -> None:
    with pytest.raises(NotConfirmed, match=r"nothing was changed: say --yes --count 1204"):
        confirm(LARGE, yes=True, count=None)
    confirm(LARGE, yes=True, count=1204)


@pytest.mark.parametrize("which", [SMALL, LARGE])
def test_a_wrong_number_is_refused_whether_it_was_wanted_or_not(which: Plan) -> None:
    with pytest.raises(NotConfirmed, match=f"about {which.count}, not 5: nothing was changed"):
        confirm(which, yes=True, count=5)


@pytest.mark.parametrize("which", [SMALL, LARGE])
def test_the_number_alone_is_no_yes(which: Plan) -> None:
    with pytest.raises(NotConfirmed, match="nothing was changed"):
        confirm(which, yes=False, count=which.count)


@pytest.mark.parametrize("typed", ["y\n", "YES\n", " yes \n"])
def test_asked_and_answered_yes(answer: Callable[[str], None], typed: str) -> None:
    answer(typed)
    confirm(SMALL, yes=False, count=None)


@pytest.mark.parametrize("typed", ["\n", "", "n\n", "12\n", "yeah\n"])
def test_anything_but_yes_is_no(answer: Callable[[str], None], typed: str) -> None:
    answer(typed)
    with pytest.raises(Cancelled, match="nothing was changed"):
        confirm(SMALL, yes=False, count=None)


@pytest.mark.parametrize("typed", ["1204\n", "1,204\n", " 1 204 \n"])
@pytest.mark.parametrize("yes", [True, False])
def test_asked_and_answered_the_number(answer: Callable[[str], None], typed: str, yes: bool) -> None:
    answer(typed)
    confirm(LARGE, yes=yes, count=None)


@pytest.mark.parametrize("typed", ["y\n", "1203\n", "٣\n", "1204x\n", "-1204\n"])
def test_a_wrong_answer_is_no(answer: Callable[[str], None], typed: str) -> None:
    answer(typed)
    with pytest.raises(NotConfirmed, match="nothing was changed"):
        confirm(LARGE, yes=False, count=None)


@pytest.mark.parametrize("typed", ["", "\n"])
def test_no_number_is_no(answer: Callable[[str], None], typed: str) -> None:
    answer(typed)
    with pytest.raises(Cancelled):
        confirm(LARGE, yes=True, count=None)


def test_a_small_plan_with_yes_asks_nobody(answer: Callable[[str], None]) -> None:
    answer("n\n")
    confirm(SMALL, yes=True, count=None)


@pytest.mark.parametrize(("typed", "status", "left"), [(b"\n", 3, 2), (b"y\n", 0, 0)])
def test_at_a_real_terminal(
    start: Callable[..., Any], stuck: Stuck, ok: str, *, typed: bytes, status: int, left: int
) -> None:
    stuck.add(2)
    ours, theirs = pty.openpty()
    started = start("drain", *stuck.names, "web-1", "--handler", ok, stdin=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while b"[y/N] " not in said:
        said += os.read(ours, 4096)
    os.write(ours, typed)
    out, _ = started.process.communicate(timeout=60)
    assert started.process.returncode == status
    assert len(stuck.rows()) == left
    assert b"Drain web-1" in out
    os.close(ours)


def test_without_a_terminal_and_without_yes(command: Command, stuck: Stuck, ok: str, audit_path: Any) -> None:
    stuck.add(2)
    before = stuck.rows()
    said = command("drain", *stuck.names, "web-1", "--handler", ok)
    assert "say --yes if the plan is what you mean" in said.complaint()
    assert "2 entries of web-1 are processed here" in said.out
    assert stuck.rows() == before
    assert not audit_path.exists()
