"""How much is tried: little in each check, so that it takes minutes, and much in `make nightly`."""

from __future__ import annotations

import os

PROFILE = os.environ.get("MARCHWARDEN_TEST_PROFILE", "check")
IS_NIGHTLY = PROFILE == "nightly"
KILLS = 40 if IS_NIGHTLY else 6
"""Processes that a test kills, each at another moment. A kill costs about 0.5 CPU seconds: the next run goes on."""
EXAMPLES = 300 if IS_NIGHTLY else 20
"""Of each property: 20 find what a changed rule breaks, as the mutants of docs/wiki/DevelopmentGuide.md show."""
