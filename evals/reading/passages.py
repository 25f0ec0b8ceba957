"""How long it takes to divide long texts into passages, ordinary and odd ones, and how that grows with their length.

    python -m evals.reading.passages [--lengths 250000 500000 1000000]

Seconds of processor time for a text of one paragraph, of so many characters. Beside it sentencex alone, on 20,000 and
40,000 characters: where the second figure is four times the first, it takes quadratic time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

from evals.reading.sentences import library_alone
from marchwarden.reading.passages import lay_out
from marchwarden.reading.text_blocks import Block

TEXTS = {
    "English prose": "The growers of the valley plant what they planted before, and the water comes late. ",
    "German prose": "Am 12. Mai 1999 kamen z. B. Dr. Vogel und die Pflanzer des Tals in die Hauptstr. 5. ",
    "Chinese prose": "番茄喜欢阳光，黄瓜需要水，豆子不怕冷。",
    "Arabic prose": "زار د. أحمد السوق ثم عاد مساء. ",
    "no blank": "a",
    "Chinese without a mark": "番",
    "full stops": ".",
    "spaced full stops": ". ",
    "abbreviations": "z. B. ",
    "initials": "J. ",
    "opening quotes": "“a ",
    "straight quotes": '"a ',
    "opening brackets": "(",
    "list items": "1. a ",
    "note marks": ".[3]",
    "combining marks": "e\u0301",
}


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def text_of(unit: str, length: int) -> str:
    return (unit * (length // len(unit))).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="*", default=[250_000, 500_000, 1_000_000])
    lengths = parser.parse_args().lengths
    print(f"| text | {' | '.join(f'{length:,}' for length in lengths)} | sentencex: 20,000 | 40,000 |")
    print("|---|" + "---|" * (len(lengths) + 2))
    lay_out([Block("paragraph", "What is loaded once. Then begin.")])
    for name, unit in TEXTS.items():
        here = [seconds(partial(lay_out, [Block("paragraph", text_of(unit, length))])) for length in lengths]
        alone = [seconds(partial(library_alone, text_of(unit, length), None)) for length in (20_000, 40_000)]
        print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in (*here, *alone)) + " |", flush=True)


if __name__ == "__main__":
    main()
