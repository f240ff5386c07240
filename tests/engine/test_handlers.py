"""Handlers by name, and entries as handlers see them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.conftest import until

from echomq_console import engine
from echomq_console.engine import Entry, Error, HandlerNotFound, Ok, load_handler
from echomq_console.engine.entry import entry_of, is_branded
from echomq_console.engine.events import Delivered, Event, plain
from echomq_console.engine.handlers import ExecHandler
from echomq_console.model.branded import BrandedId, parse_branded

ENTRY = Entry("1-1", {b"n": b"1", b"bad": b"\xff\xfe", b"\xff": b"x"}, 3, "g")


def program(code: str) -> ExecHandler:
    return ExecHandler((sys.executable, "-c", code))


async def test_a_program_gets_four_fields_and_exit_0_is_ok(tmp_path: Path) -> None:
    said = tmp_path / "said.json"
    handler = program(f"import sys; open({str(said)!r}, 'w').write(sys.stdin.read())")
    assert await handler(ENTRY) == Ok()
    assert json.loads(said.read_text()) == {
        "id": "1-1",
        "payload": {"n": "1", "bad": {"base64": "//4="}, "base64:/w==": "x"},
        "attempts": 3,
        "group": "g",
    }


async def test_the_last_line_of_stderr_is_the_reason() -> None:
    code = "import sys; print('first', file=sys.stderr); print('card declined', file=sys.stderr); sys.exit(3)"
    assert await program(code)(ENTRY) == Error("card declined")


async def test_a_silent_failure_says_how_it_ended() -> None:
    assert await program("import sys; sys.exit(3)")(ENTRY) == Error("exit 3")
    killed = await program("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")(ENTRY)
    assert killed == Error("ended by signal 15")


async def test_a_program_that_does_not_read() -> None:
    large = Entry("1-1", {b"n": b"x" * 3_000_000}, 1, "g")
    assert await program("pass")(large) == Ok()


async def test_a_cancelled_call_ends_the_whole_process_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids) + '.new'!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(pids) + '.new'!r}, {str(pids)!r})\n"
        "time.sleep(600)\n"
    )
    call = asyncio.ensure_future(program(code)(ENTRY))
    await until(pids.exists)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    for pid in map(int, pids.read_text().split()):
        await until(lambda pid=pid: _is_gone(pid))  # type: ignore[misc]


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "not a handler"),
        ("json", "use module:function"),
        ("json:", "not a handler"),
        ("no_such_module:handle", "no module 'no_such_module'"),
        ("json.nothing:handle", "no module 'json.nothing'"),
        ("json:nothing", "has no 'nothing'"),
        ("json:__name__", "is no function but str"),
        ("exec:", "not a handler"),
        ("exec:no-such-program-anywhere", "no program"),
        ("exec:echo 'open", "No closing quotation"),
    ],
)
def test_a_bad_name_is_one_clear_line(spec: str, says: str) -> None:
    with pytest.raises(HandlerNotFound, match=says) as raised:
        load_handler(spec)
    assert "\n" not in str(raised.value)


def test_a_module_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "billing_for_test.py").write_text("async def handle(entry):\n    ...\n")
    (tmp_path / "broken_for_test.py").write_text("raise RuntimeError('two\\nlines')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    assert callable(load_handler("billing_for_test:handle"))
    with pytest.raises(HandlerNotFound, match="RuntimeError: two lines"):
        load_handler("broken_for_test:handle")


def test_a_program_is_an_argument_list() -> None:
    handler = load_handler("exec:echo 'a b' $HOME ;")
    assert isinstance(handler, ExecHandler)
    assert handler.arguments == ("echo", "a b", "$HOME", ";")


def test_the_branded_id_is_the_id_and_leaves_the_payload() -> None:
    assert entry_of(b"5-1", [b"id", b"EVT000xY9Wvvcd", b"a", b"1"], 1, "g") == Entry(
        "EVT000xY9Wvvcd", {b"a": b"1"}, 1, "g"
    )
    assert entry_of(b"5-1", [b"a", b"1", b"id", b"EVT000xY9Wvvcd"], 1, "g").id == "EVT000xY9Wvvcd"


@pytest.mark.parametrize("other", [b"USRzzzzzzzzzzz", b"not-branded", b"", b"EVT000xY9Wvvc\n"])
def test_an_id_field_that_is_no_branded_id_stays_in_the_payload(other: bytes) -> None:
    assert entry_of(b"5-1", [b"id", other, b"a", b"1"], 2, "g") == Entry("5-1", {b"id": other, b"a": b"1"}, 2, "g")


def test_only_the_first_id_field_is_the_branded_one() -> None:
    twice = [b"id", b"EVT000xY9Wvvcd", b"id", b"mine", b"a", b"1", b"a", b"2"]
    assert entry_of(b"5-1", twice, 1, "g").payload == {b"id": b"mine", b"a": b"2"}
    other = [b"a", b"1", b"id", b"mine", b"id", b"EVT000xY9Wvvcd"]
    assert entry_of(b"5-1", other, 1, "g").id == "5-1"


@given(st.one_of(st.binary(max_size=20), st.integers(0, 2**64).map(lambda n: str(BrandedId("EVT", n)).encode())))
def test_the_quick_answer_is_the_models(text: bytes) -> None:
    assert is_branded(text) == (parse_branded(text) is not None)


def test_events_are_lines_of_json() -> None:
    assert Delivered("1-1", "EVT1", 2).as_dict() == {"event": "delivered", "id": "1-1", "entry": "EVT1", "attempts": 2}
    assert plain((b"a", b"\xff")) == ["a", {"base64": "/w=="}]
    for kind in Event.__subclasses__():
        json.dumps(kind.__new__(kind).__class__.__name__)


def test_all_is_what_is_public() -> None:
    assert engine.__all__ == sorted(engine.__all__)
    for name in engine.__all__:
        assert getattr(engine, name) is not None
        assert not hasattr(getattr(engine, name), "__path__")
    assert dir(engine) == engine.__all__
    assert {kind.__name__ for kind in Event.__subclasses__()} < set(engine.__all__)
    with pytest.raises(AttributeError, match="no_such"):
        engine.no_such  # noqa: B018
