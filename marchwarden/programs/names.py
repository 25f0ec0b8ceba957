"""A model's id as the name of a folder, and as one of a family whose members can stand in for each other."""

from __future__ import annotations

import re

# Parts of a model's name that do not tell one family from another.
_DATE_OR_VERSION = re.compile(r"v?\d+(?:\.\d+)*|latest|preview|exp")


def model_slug(model_id: str) -> str:
    """Return a model's id as the name of its program's folder."""
    return re.sub(r"[^a-z0-9.]+", "-", model_id.lower()).strip("-.") or "unnamed"


def family(model_id: str) -> str:
    """Return provider and name without version and date: equal for models whose programs can replace each other.

    `anthropic/claude-sonnet-5-5` and `anthropic/claude-sonnet-5-6-20270101` are `anthropic/claude-sonnet`. A size
    (`8b`, `1.5b`) and a word (`mini`) make another family.
    """
    provider, _, name = model_id.lower().rpartition("/")
    tokens = [token for token in re.split(r"[-_:@\s]+", name) if token]
    # A name of nothing but versions is kept whole.
    kept = [token for token in tokens if not _DATE_OR_VERSION.fullmatch(token)]
    return f"{provider}/{'-'.join(kept or tokens)}"
