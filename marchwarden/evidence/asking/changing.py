"""Tell whether a text is about something that changes with time."""

from __future__ import annotations

import re
from datetime import timedelta

# Least difference between the dates of two sources for the newer one to be preferred on such a thing. A guess.
NEWER = timedelta(days=270)

# Words for things that change with time.
CHANGES = re.compile(
    r"\b(current|currently|now|nowadays|today|at present|yet|record|latest|fastest|population of|price|holds?|as of|"
    r"so far|still|(most )?recent(ly)?|estimated|how many people (live|are)|apply|applies|deadline|have to|must|"
    r"required?|last time|when (did|was|were)\b.* last)\b",
    re.IGNORECASE,
)
