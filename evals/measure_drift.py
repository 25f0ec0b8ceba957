"""States of quotes after known edits of the shipped pages: how often `marchwarden check` would tell the right one.

    python evals/measure_drift.py [--pages 150] [--quotes 3]

Each quote is a sentence of a page's text. The text is edited at it, and compared as a page that was fetched again.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from marchwarden.audit.drift import find_drift, flat
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.observations import Page
from marchwarden.reading.page import read_page
from marchwarden.settings import shipped
from marchwarden.text.segmentation.sentences import sentences

# Fixed, so that two runs measure the same edits.
SEED = 7


def readable_pages() -> list[Page]:
    read = (
        read_page(page.body(), url=page.url, content_type=page.content_type)
        for page in FrozenWeb.load(shipped("web")).pages.values()
        if page.status == 200 and page.file and (page.content_type or "").startswith("text/html")
    )
    return [page for page in read if isinstance(page, Page) and len(page.passages) > 8]


def edits(parts: list[str], place: int, words: list[str], dice: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield the name of an edit, the state that is right after it, the new text, and the sentence that is new."""
    whole, before, after = parts[place], parts[:place], parts[place + 1 :]
    quote = whole.strip()
    own = quote.split()

    def replaced(new: str) -> str:
        return "".join([*before, whole.replace(quote, new), *after])

    if number := re.search(r"[1-9]\d{0,8}", quote):
        new = f"{quote[: number.start()]}{int(number[0]) + 1}{quote[number.end() :]}"
        yield "another number", "changed", replaced(new), new
    if "\n" not in quote:
        other = dice.randrange(1, len(own) - 1)
        new = " ".join([*own[:other], dice.choice(words), *own[other + 1 :]])
        yield "another word", "changed", replaced(new), new
        new = " ".join(word if dice.random() > 0.25 else dice.choice(words) for word in own[:-1]) + f" {own[-1]}"
        if new != quote:
            yield "a quarter of other words", "changed", replaced(new), new
        new = f"{quote.rstrip('.')}, {' '.join(dice.choices(words, k=6))}."
        yield "a further clause", "changed", replaced(new), new
    yield "deleted", "changed", "".join([*before, *after]), ""
    yield "a sentence before it", "same", "".join([*before, "The editors wrote this. ", whole, *after]), ""
    rest = [*before, *after]
    there = (place + len(parts) // 2) % len(rest)
    if abs(there - place) > 1:
        yield "moved", "elsewhere", "".join([*rest[:there], whole, *rest[there:]]), ""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=150)
    options.add_argument("--quotes", type=int, default=3, help="of one page")
    given = options.parse_args()
    dice = random.Random(SEED)
    pages = readable_pages()
    dice.shuffle(pages)
    words = [word for page in pages for word in re.findall(r"[a-z]{5,}", page.text)]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for page in pages[: given.pages]:
        parts = [page.text[start:end] for start, end in sentences(page.text)]
        usable = [
            place
            for place in range(2, len(parts) - 2)
            if 50 <= len(parts[place].strip()) <= 300 and page.text.count(parts[place].strip()) == 1
        ]
        for place in dice.sample(usable, min(given.quotes, len(usable))):
            for name, state, now, new in edits(parts, place, words, dice):
                found = find_drift(parts[place].strip(), page.text, now, page.language)
                told = flat(found.new_sentence or "")
                is_paired = bool(told) and (told in flat(new) or flat(new) in told) if new else not told
                counts[name]["all"] += 1
                counts[name]["state"] += found.state == state
                counts[name]["new sentence"] += found.state == state and is_paired
    print(f"{'edit':<26}{'tried':>6}{'state right':>13}{'new sentence right':>20}")
    for name, count in counts.items():
        print(f"{name:<26}{count['all']:>6}{count['state']:>13}{count['new sentence']:>20}")


if __name__ == "__main__":
    main()
