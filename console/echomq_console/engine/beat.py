"""The beat: the recovery of peers. What others left idle is claimed, step by step, round by round."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from echomq_console.server.errors import NoGroup, ServerError

from .backoff import is_final
from .claiming import take_claimed
from .events import Beat as Beaten
from .session import Session
from .slices import Taker

_log = logging.getLogger(__name__)

_EMPTY_CALLS = 10


class Beat:
    """Claims what has been idle for `min_idle` seconds, every `every` seconds, `count` entries a call.

    `cursor` goes on from beat to beat and wraps, so an old entry behind any number of young ones is reached within one
    round. `unsure` is called after an error: a claim whose answer was lost may have given us something.
    """

    def __init__(
        self,
        session: Session,
        taker: Taker,
        *,
        min_idle: float,
        every: float,
        count: int,
        unsure: Callable[[], None],
        stopping: asyncio.Event,
    ) -> None:
        self.cursor = b"0-0"
        self._session = session
        self._taker = taker
        self._min_idle_ms = round(min_idle * 1000)
        self._every = every
        self._count = count
        self._unsure = unsure
        self._stopping = stopping

    async def run(self) -> None:
        """Beat until the consumer stops. Raises a ServerError that trying again cannot mend."""
        while not self._stopping.is_set():
            try:
                await self.once()
            except NoGroup:
                _log.debug("no beat: the group is gone, which the reader will say")
            except ServerError as error:
                if is_final(error):
                    raise
                self._unsure()
                _log.info("no beat this time: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._stopping.wait()

    async def once(self) -> int:
        """One beat: calls until a round is complete or ten calls in a row found nothing; returns what it found."""
        found = calls = empty = 0
        while empty < _EMPTY_CALLS and not self._session.hands.closing:
            claim = await self._session.place.autoclaim(self.cursor, self._min_idle_ms, self._count)
            self.cursor = claim.cursor
            calls += 1
            got = await take_claimed(self._session, self._taker, claim, "beat")
            found += got
            empty = 0 if got else empty + 1
            if self.cursor == b"0-0":
                break
        if self._session.emit is not None:
            self._session.emit(Beaten(found, calls, self.cursor.decode()))
        return found
