"""Random investigations whose researchers crash, hang, lie and overspend: the budget must hold in all of them.

python evals/investigations/misbehaviour.py [COUNT]
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

import anyio

from tests.orchestrator.schedules import check_schedule

# Every so many-th run has researchers that hang, which takes its whole time.
_HANGS_EACH = 10


async def main(count: int) -> int:
    logging.disable(logging.CRITICAL)
    failed, began = [], time.process_time()
    for seed in range(10_000, 10_000 + count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                await check_schedule(seed, Path(folder) / "traces", hangs=seed % _HANGS_EACH == 0)
            except AssertionError as error:
                failed.append(seed)
                print(f"seed {seed}: {error}")
    print(f"{count} runs, {len(failed)} broke a promise; {time.process_time() - began:.0f} CPU seconds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
