"""A server runs so many calls at once, lets a few wait, and refuses the others at once."""

from __future__ import annotations

import anyio
import pytest

from marchwarden.errors import CallerGone, MarchwardenError, ServerBusy, ServerStopping
from marchwarden.server.admission import Admission, Presence

pytestmark = pytest.mark.anyio


async def test_calls_take_turns_in_the_order_in_which_they_came() -> None:
    admission, begun, told = Admission(running=2, waiting=10), [], []
    most = running = 0
    all_came = anyio.Event()

    async def call(number: int) -> None:
        nonlocal most, running
        async with admission.place(told.append):
            begun.append(number)
            running += 1
            most = max(most, running)
            await all_came.wait()
            await anyio.lowlevel.checkpoint()
            running -= 1

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(call, number)
            await anyio.lowlevel.checkpoint()
        all_came.set()
    assert (begun, most) == ([0, 1, 2, 3, 4, 5], 2)
    assert told[0] == "waiting for a place (calls that run: 2, that wait before this one: 0)"
    assert told[3] == "waiting for a place (calls that run: 2, that wait before this one: 3)"


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


async def test_a_call_that_waits_hears_when_it_moves_up() -> None:
    admission, told = Admission(running=1, waiting=3), []

    async def wait() -> None:
        async with admission.place(told.append):
            pass

    async with anyio.create_task_group() as group:
        async with admission.place(lambda said: None):
            group.start_soon(wait)
            await anyio.lowlevel.checkpoint()
            with anyio.CancelScope() as before:
                group.start_soon(wait)
                await anyio.lowlevel.checkpoint()
                before.cancel()
        await anyio.sleep(0.01)
    positions = [said.rpartition(": ")[2] for said in told]
    assert positions == ["0)", "1)", "0)"]


async def test_a_caller_that_goes_away_gives_up_its_place_in_the_queue() -> None:
    admission, presence = Admission(running=1, waiting=1), Presence()
    raised: list[MarchwardenError] = []

    async def wait() -> None:
        try:
            async with admission.place(lambda said: None, presence):
                pass
        except CallerGone as error:
            raised.append(error)

    async with admission.place(lambda said: None), anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        assert admission.waiting == 1
        presence.leave()
        await anyio.sleep(0.01)
        assert admission.waiting == 0
        # One that had left before it came does not even wait.
        group.start_soon(wait)
    assert len(raised) == 2


async def test_a_server_that_stops_finishes_what_runs_and_refuses_what_waits() -> None:
    admission = Admission(running=1, waiting=1)
    refused: list[MarchwardenError] = []

    async def wait() -> None:
        try:
            async with admission.place(lambda said: None):
                pass
        except ServerStopping as error:
            refused.append(error)

    async with admission.place(lambda said: None), anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        admission.close()
        assert admission.running == 1
    with pytest.raises(ServerStopping, match="being stopped"):
        async with admission.place(lambda said: None):
            pass
    assert len(refused) == 1


async def test_limits_can_be_changed_while_calls_wait() -> None:
    admission, begun = Admission(running=1, waiting=5), []

    async def call(number: int) -> None:
        async with admission.place(lambda said: None):
            begun.append(number)
            await anyio.sleep(0.02)

    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(call, number)
        await anyio.lowlevel.checkpoint()
        assert begun == [0]
        admission.resize(3, 0)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        assert begun == [0, 1, 2]
