"""Addresses: every form of URL, one clear line for what is none, and a password nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection

from echomq_console.server.address import DEFAULT_URL, Address
from echomq_console.server.errors import InvalidAddress, ServerError
from echomq_console.server.wire import Wire


@pytest.fixture(autouse=True)
def _no_password_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ECHOMQ_PASSWORD", raising=False)


@pytest.mark.parametrize(
    ("url", "shown", "options"),
    [
        (DEFAULT_URL, "redis://127.0.0.1:6379", {"host": "127.0.0.1", "port": 6379}),
        ("redis://", "redis://127.0.0.1:6379", {"host": "127.0.0.1", "port": 6379}),
        ("valkey://db.example:7000", "valkey://db.example:7000", {"host": "db.example", "port": 7000}),
        ("REDIS://h:1", "redis://h:1", {"host": "h", "port": 1}),
        ("redis://h:1/3", "redis://h:1/3", {"host": "h", "port": 1, "db": 3}),
        ("redis://h:1/", "redis://h:1", {"host": "h", "port": 1}),
        ("redis://[::1]:7000", "redis://[::1]:7000", {"host": "::1", "port": 7000}),
        ("redis://ana:pw@h", "redis://ana@h:6379", {"username": "ana", "password": "pw"}),
        ("redis://:p%40s%2Fs%23@h", "redis://h:6379", {"password": "p@s/s#"}),
        ("redis://h?password=pw&db=2", "redis://h:6379", {"password": "pw", "db": 2}),
        ("unix:///run/v.sock", "unix:///run/v.sock", {"path": "/run/v.sock"}),
        ("unix:///run/a@b.sock", "unix:///run/a@b.sock", {"path": "/run/a@b.sock"}),
        ("unix://ana:pw@/run/v.sock?db=2", "unix:///run/v.sock", {"path": "/run/v.sock", "password": "pw", "db": 2}),
    ],
)
def test_a_url_is_understood(url: str, shown: str, options: dict[str, Any]) -> None:
    address = Address.parse(url)
    assert address.shown == shown
    assert {name: address.options.get(name) for name in options} == options


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://h", Connection),
        ("valkey://h", Connection),
        ("rediss://h", SSLConnection),
        ("valkeys://h", SSLConnection),
        ("unix:///s", UnixDomainSocketConnection),
    ],
)
def test_the_scheme_decides_the_kind_of_connection(url: str, kind: type) -> None:
    assert Address.parse(url).pool().connection_class is kind


@pytest.mark.parametrize(
    "url",
    [
        *("", "h", "h:6379", "redis", "redis:", "redis:h", "redis:/h", "http://h", "tcp://h:1", "//h:1"),
        *("redis://h:port", "redis://h:99999", "redis://h:-1", "redis://[::1", "redis://h/abc", "redis://h/-3"),
        *("redis://h/1/2", "redis://h#x", "redis://h?db=x", "redis://h?socket_timeout=x", "redis://h?nonsense=1"),
        *(
            "rediss://h?ssl_cert_reqs=bogus",
            "unix://",
            "unix:",
            "unix://ana:pw/x@/run/s",
            "unix:///s#x",
            "\x1b]0;owned\x07://h",
            "redis://h\x1b[2J/x",
        ),
    ],
)
def test_what_is_no_url_gets_one_clear_line(url: str) -> None:
    with pytest.raises(InvalidAddress) as caught:
        Address.parse(url)
    text = str(caught.value)
    assert text.isprintable()
    assert isinstance(caught.value, ServerError)
    assert "URL" in text


SECRETS = [
    "hunter2",
    "hun/ter2",
    "hun#ter2",
    "hun?ter2",
    "hun@ter2",
    "12/ter2",
    "12#ter2",
    "12?ter2",
    "hun:ter2",
    "%zz",
]
FORMS = [
    "redis://:{}@h:6379",
    "redis://ana:{}@h:6379/0",
    "redis://ana:{}@h:port",
    "http://ana:{}@h",
    "ana:{}@h",
    "redis://ana:{}@h/abc",
    "redis://ana:{}@[::1",
    "redis://ana:{}@h?nonsense=1",
    "unix://ana:{}@/run/s",
    "redis://h:port?password={}",
    "http://h?password={}",
    "redis://h?password={}",
    "redis://h?password={}&nonsense=1",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_piece_of_a_password_is_shown(form: str, secret: str) -> None:
    url = form.format(secret)
    try:
        address = Address.parse(url)
        said = f"{address.shown} {address!r} {address!s} {Wire(address)!r} {Wire(address).address}"
    except InvalidAddress as error:
        said = f"{error!s} {error!r}"
    for piece in ("hunter2", "ter2", "hun", "zz", ":12", "/12"):
        assert piece not in said


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), min_size=4, max_size=12))
def test_no_password_of_any_spelling_is_shown(secret: str) -> None:
    marked = f"X{secret}X"
    for form in FORMS:
        try:
            said = repr(Address.parse(form.format(marked)))
        except InvalidAddress as error:
            said = str(error)
        assert marked not in said


def test_a_password_from_the_environment_is_not_shown_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECHOMQ_PASSWORD", "hunter2")
    address = Address.parse("redis://ana@h")
    assert address.options["password"] == "hunter2"
    assert "hunter2" not in repr(address) + address.shown
    assert Address.parse("redis://ana:own@h").options["password"] == "own"


def test_a_long_wrong_url_is_cut() -> None:
    with pytest.raises(InvalidAddress) as caught:
        Address.parse("http://" + "x" * 10_000)
    assert len(str(caught.value)) < 400
