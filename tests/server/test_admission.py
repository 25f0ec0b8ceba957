"""A server runs so many calls at once, lets a few wait, and refuses the others at once."""

from __future__ import annotations

import anyio
import pytest

from marchwarden.errors import ServerBusy
from marchwarden.server.admission import Admission

pytestmark = pytest.mark.anyio


async def test_calls_take_turns_in_the_order_in_which_they_came() -> None:
    admission, begun, told = Admission(running=2, waiting=10), [], []
    most = running = 0

    async def call(number: int) -> None:
        nonlocal most, running
        async with admission.place(told.append):
            begun.append(number)
            running += 1
            most = max(most, running)
            await anyio.sleep(0.01)
            running -= 1

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(call, number)
            await anyio.lowlevel.checkpoint()
    assert (begun, most) == ([0, 1, 2, 3, 4, 5], 2)
    assert told[0] == "waiting for a place (calls that run: 2, that wait before this one: 0)"
    assert len(told) == 4


async def test_beyond_the_queue_a_call_is_refused_at_once_with_the_time_to_ask_again() -> None:
    admission = Admission(running=1, waiting=1)
    async with admission.place(lambda said: None), anyio.create_task_group() as group:

        async def wait() -> None:
            async with admission.place(lambda said: None):
                pass

        group.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        with pytest.raises(ServerBusy, match=r"calls that run: 1, that wait: 1\); try again in 20 s") as busy:
            async with admission.place(lambda said: None):
                pass
        assert busy.value.retry_after == 20
        group.cancel_scope.cancel()
    # Whoever gave up waiting takes no place from the others.
    async with admission.place(lambda said: None):
        pass


async def test_a_call_that_fails_gives_its_place_back() -> None:
    admission = Admission(running=1, waiting=0)
    for _ in range(3):
        with pytest.raises(ValueError, match="failed"):
            async with admission.place(lambda said: None):
                raise ValueError("failed")
