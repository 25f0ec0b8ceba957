"""Phrases of walls, in tables by language.

Each table is looked for in every page, whatever its language: few pages say which one they are in, and a wall often
speaks another than its page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Phrases = re.Pattern[str]


def any_of(phrases: Mapping[str, tuple[str, ...]]) -> Phrases:
    """What finds any of the phrases: regular expressions, case and kind of apostrophe aside."""
    written = (phrase.replace("'", "['’]") for table in phrases.values() for phrase in table)
    return re.compile("|".join(written), re.IGNORECASE)
