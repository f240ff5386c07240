"""What passes between the app and the process that runs a handler for it: arguments one way, lines the other."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from echomq_console.actions.child import _Listening, arguments, run_in_child
from echomq_console.actions.record import outcome_document
from echomq_console.actions.session import ActionRefused
from echomq_console.model.action import Options, Outcome, Plan, Progress, Skipped, Target

from .conftest import T_MS, Desk

OUTCOME = Outcome(
    action="drain",
    stream=b"orders\xff",
    group=b"billing",
    done=2,
    failed=1,
    dead_lettered=0,
    ids=("1-0", "2-0"),
    failures=(Skipped("3-0", "card declined"),),
    skipped=(Skipped("4-0", "gone"),),
    audit_id="20260127-151137-ab12",
    seconds=0.25,
)


def _plan(options: Options | None = None, *, consumer: bytes | None = b"web-1", **changed: Any) -> Plan:
    said: dict[str, Any] = {
        "action": "drain",
        "target": Target(b"orders", b"billing", consumer),
        "options": options or Options(handler="billing:handle"),
        "actor": "ana@bastion",
        "count": 3,
        "exact": True,
        "sample": (),
        "owners": {},
        "effects": (),
        "untouched": (),
        "reassurances": (),
        "warnings": (),
        "commands": (),
        "needs_count": False,
    }
    return Plan(**said | changed)


class Heard:
    """What a child said, as its listener passed it on."""

    def __init__(self) -> None:
        self.progress: list[Progress] = []
        self.audit: list[str] = []
        self.listening = _Listening(_plan(), self.progress.append, self.audit.append)

    def say(self, *lines: dict[str, Any]) -> Heard:
        for line in lines:
            self.listening.take(json.dumps(line).encode() + b"\n")
        return self


AUDIT = {"event": "audit", "audit_id": "20260127-151137-ab12"}
PROGRESS = {"event": "progress", "done": 1, "failed": 1, "dead_lettered": 0, "skipped": 0, "total": 3, "line": "1-0 ok"}


def test_the_command_is_exactly_the_plan(desk: Desk) -> None:
    said = arguments(desk.session, _plan())
    assert said[:6] == ["drain", "--yes", "--confirmed", "--events", "-", "--stop-on-eof"]
    assert _option(said, "--min-idle") == f"{T_MS}ms"
    assert _option(said, "--job-time") == f"{T_MS}ms"
    assert _option(said, "--batch") == "100"
    assert _option(said, "--handler") == "billing:handle"
    assert said[said.index("--") + 1 :] == ["orders", "billing", "web-1"]
    assert "--max-attempts" not in said
    assert "--owner-is-stopped" not in said


def test_every_option_is_passed_on(desk: Desk) -> None:
    options = Options(min_idle_ms=0, handler="exec:cat -", max_attempts=4, owner_is_stopped=True, batch=7)
    said = arguments(desk.session, _plan(options))
    assert _option(said, "--min-idle") == "0ms"
    assert _option(said, "--batch") == "7"
    assert _option(said, "--handler") == "exec:cat -"
    assert _option(said, "--max-attempts") == "4"
    assert "--owner-is-stopped" in said


def test_names_of_any_bytes_reach_the_command(desk: Desk) -> None:
    target = Target(b"-\xff", b"--yes", b"")
    said = arguments(desk.session, _plan(target=target))
    names = said[said.index("--") + 1 :]
    assert [os.fsencode(name) for name in names] == [b"-\xff", b"--yes", b""]
    claim = arguments(desk.session, _plan(action="autoclaim", consumer=None))
    assert claim[claim.index("--") + 1 :] == ["orders", "billing"]


def test_no_password_is_an_argument(desk: Desk) -> None:
    address = type(desk.session.address).parse("redis://ana:s3cret@127.0.0.1:6379")
    said = arguments(desk.is_now(address=address).session, _plan())
    assert not any("s3cret" in word for word in said)


@pytest.mark.parametrize("name", [b"a\0b", b"x" * 1_000_000])
async def test_names_no_command_line_can_carry_are_refused(desk: Desk, name: bytes) -> None:
    with pytest.raises(ActionRefused, match="cannot be started: ") as caught:
        await run_in_child(desk.session, _plan(target=Target(name, b"billing", b"web-1")))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


async def test_read_only_and_refused_plans_start_nothing(desk: Desk) -> None:
    with pytest.raises(ActionRefused, match="read-only"):
        await run_in_child(desk.is_now(read_only=True).session, _plan())
    with pytest.raises(ActionRefused, match="not now"):
        await run_in_child(desk.session, _plan(refusal="not now"))


def test_an_outcome_comes_back_as_it_was() -> None:
    heard = Heard().say(AUDIT, PROGRESS, {"event": "outcome", **outcome_document(OUTCOME)})
    assert heard.listening.outcome_of(0, "") == OUTCOME
    assert heard.audit == ["20260127-151137-ab12"]
    assert heard.progress == [Progress(1, 1, 0, 0, 3, "1-0 ok")]


def test_an_outcome_counts_though_the_status_is_not_0() -> None:
    heard = Heard().say(AUDIT, {"event": "outcome", **outcome_document(OUTCOME)})
    assert heard.listening.outcome_of(3, "a complaint") == OUTCOME


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"printed by a handler\n",
        b"\xff\xfe\n",
        b"5\n",
        b"null\n",
        b'["progress"]\n',
        b"{}\n",
        b'{"event": "progress"}\n',
        b'{"event": "progress", "done": 9, "failed": 9, "dead_lettered": 9, "skipped": 9, "total": 9, "more": 1}\n',
        b'{"event": "audit"}\n',
        b'{"event": "outcome", "done": 9}\n',
        b'{"event": "something new"}\n',
        b"[" * 100_000,
    ],
)
def test_what_is_no_line_of_ours_is_passed_over(line: bytes) -> None:
    heard = Heard().say(AUDIT, PROGRESS)
    heard.listening.take(line)
    assert len(heard.progress) == 1
    assert heard.audit == ["20260127-151137-ab12"]
    assert heard.listening.outcome_of(1, "").done == 1


def test_a_mistake_in_the_screen_is_not_passed_over() -> None:
    def broken(_progress: Progress) -> None:
        raise ValueError("a mistake of ours")

    with pytest.raises(ValueError, match="a mistake of ours"):
        _Listening(_plan(), broken, None).take(json.dumps(PROGRESS).encode())


@pytest.mark.parametrize(("code", "how"), [(-9, "was killed by signal 9"), (1, "ended with status 1")])
def test_a_child_that_died_in_mid_run(code: int, how: str) -> None:
    outcome = Heard().say(AUDIT, PROGRESS).listening.outcome_of(code, "")
    assert (outcome.done, outcome.failed, outcome.audit_id) == (1, 1, "20260127-151137-ab12")
    assert outcome.error is not None
    assert how in outcome.error
    assert "still pending" in outcome.error
    assert (outcome.stream, outcome.group) == (b"orders", b"billing")


def test_a_child_that_refused_says_why() -> None:
    with pytest.raises(ActionRefused, match="no module 'billing'"):
        Heard().listening.outcome_of(3, "no module 'billing' for the handler")
    with pytest.raises(ActionRefused, match="was killed by signal 11 before it began"):
        Heard().listening.outcome_of(-11, "")


def _option(said: list[str], name: str) -> str:
    return said[said.index(name) + 1]
