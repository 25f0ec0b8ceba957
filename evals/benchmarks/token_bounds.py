"""How near the measured bounds on tokens come to what tokenizers count: `python -m evals.benchmarks.token_bounds`.

It reads the pages of the shipped frozen web with the tokenizers that LiteLLM brings (packages `litellm`, `tiktoken`
and `tokenizers`), and prints the bounds as shares of the counts. The upper one should not be below 1 by much, the
lower one not above 1. The bound by what a service has reported is that of the instructions of a stage with a page,
after an honest report for those of `plan` without one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import dspy
from dspy import lm15

from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.lm.counting import ReportedTokens
from marchwarden.lm.prompt import USUAL_BASE_TOKENS, USUAL_MESSAGE_TOKENS, fewest_tokens, usual_most_tokens
from marchwarden.observations import Page
from marchwarden.reading.page import read_page
from marchwarden.settings import shipped
from marchwarden.stages.extract import EXTRACT
from marchwarden.stages.open_questions import OPEN_QUESTIONS
from marchwarden.stages.plan import PLAN
from marchwarden.stages.score_confidence import CONFIDENCE
from marchwarden.stages.stage import Stage
from marchwarden.stages.synthesize import SYNTHESIZE

# Characters of a page, from and to: a shorter one says little, and a longer one nothing more. A guess.
MIN_CHARS, MAX_CHARS = 300, 4_000
# Share of ASCII characters of a page that counts as one in English. A guess.
MIN_ASCII = 0.97
# Tokens of a chat template around two messages: ChatML takes 13.
TEMPLATE_TOKENS = 13


def tokenizers() -> dict[str, Callable[[str], int]]:
    """Return a count for each tokenizer at hand."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install litellm tiktoken tokenizers")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken
    from tokenizers import Tokenizer

    def of_tiktoken(name: str) -> Callable[[str], int]:
        encoding = tiktoken.get_encoding(name)
        return lambda text: len(encoding.encode(text, disallowed_special=()))

    def of_file(name: str) -> Callable[[str], int]:
        read: Any = Tokenizer.from_file(str(folder / f"{name}_tokenizer.json"))
        return lambda text: len(read.encode(text, add_special_tokens=False).ids)

    counts = {name: of_tiktoken(name) for name in ("cl100k_base", "o200k_base", "p50k_base")}
    return counts | {name: of_file(name) for name in ("anthropic", "deepseek")}


def pages() -> list[str]:
    """Return the text of each page of the shipped web that has one."""
    texts = []
    for page in FrozenWeb.load(shipped("web")).pages.values():
        if page.status != 200 or not (body := page.body()):
            continue
        read = read_page(body, url=page.url, content_type=page.content_type)
        if isinstance(read, Page) and len(read.text) >= MIN_CHARS:
            texts.append(read.text[:MAX_CHARS])
    return texts


def most(text: str) -> int:
    """Return the upper bound on a text alone, without a chat template."""
    request = lm15.Request(model="m", messages=(lm15.Message.user(text),), config=lm15.Config(max_tokens=1))
    return usual_most_tokens(request) - USUAL_BASE_TOKENS - USUAL_MESSAGE_TOKENS


def instructions(stage: Stage[Any, Any]) -> str:
    """Return the system text of a stage's prompt."""
    signature = stage.signature()
    return str(dspy.JSONAdapter().format(signature, [], dict.fromkeys(signature.input_fields, ""))[0]["content"])


def by_reports(count: Callable[[str], int], texts: Sequence[str]) -> list[float]:
    """Return the bound by reports as a share of the count, for prompts with pages in English."""
    found = []
    ascii_texts = [text for text in texts if sum(map(str.isascii, text)) > MIN_ASCII * len(text)]
    for number, stage in enumerate((EXTRACT, SYNTHESIZE, OPEN_QUESTIONS, CONFIDENCE)):
        reported = ReportedTokens()
        planned = instructions(PLAN)
        reported.add(_request(planned, "When?"), count(planned) + count("When?") + TEMPLATE_TOKENS)
        for text in ascii_texts[number::4]:
            bound = reported.most_tokens(_request(instructions(stage), text))
            if bound is not None:
                found.append(bound / (count(instructions(stage)) + count(text) + TEMPLATE_TOKENS))
    return found


def _request(system: str, text: str) -> Any:
    config = lm15.Config(max_tokens=1)
    return lm15.Request(model="m", system=system, messages=(lm15.Message.user(text),), config=config)


def main() -> None:
    counts, texts = tokenizers(), pages()
    print(f"{len(texts)} pages")
    for name, count in counts.items():
        upper = [most(text) / count(text) for text in texts]
        lower = [fewest_tokens(text) / count(text) for text in texts]
        print(
            f"{name}: upper bound {min(upper):.2f} to {max(upper):.2f} of the count, mean {fmean(upper):.2f}; "
            f"lower bound up to {max(lower):.2f}"
        )
        known = by_reports(count, texts)
        print(f"  by reports {min(known):.2f} to {max(known):.2f}, mean {fmean(known):.2f}, of {len(known)} prompts")


if __name__ == "__main__":
    main()
