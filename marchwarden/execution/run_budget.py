"""Budget of a whole run: tokens are reserved before a call begins, and settled once it has ended."""

from __future__ import annotations

import anyio

from marchwarden.errors import BudgetExhausted

MORE_TOKENS = "Allow more with --total-budget, and --resume."


class RunBudget:
    """Tokens of a run; `total` is None where they are not limited. For the tasks of one event loop."""

    def __init__(self, total: int | None = None, used: int = 0) -> None:
        """`used` tells what an earlier part of the run has spent."""
        self.total = total
        self.used = used
        self._reserved = 0
        self._changed = anyio.Condition()

    async def reserve(self, tokens: int) -> None:
        """Reserve what a call may use at most, and wait while calls that run may still give enough of theirs back.

        Raises BudgetExhausted where they can't.
        """
        async with self._changed:
            while self.total is not None and self.used + self._reserved + tokens > self.total:
                if self.used + tokens > self.total or not self._reserved:
                    raise BudgetExhausted(
                        "tokens",
                        f"the run has used {self.used:,} of its {self.total:,} tokens, and a question may use "
                        f"{tokens:,}",
                    )
                await self._changed.wait()
            self._reserved += tokens

    async def settle(self, reserved: int, used: int) -> None:
        """Give back what was reserved, and count what was used of it."""
        # A call that is cancelled settles, too.
        with anyio.CancelScope(shield=True):
            async with self._changed:
                self._reserved -= reserved
                self.used += used
                self._changed.notify_all()
