"""A prompt's texts, their hash, and bounds on their tokens, without a call of the model that will read them.

One bound is proven: no tokenizer makes more tokens than bytes. Those that are measured hold for the tokenizers that
are known, over prose and our own prompts (`python -m evals.benchmarks.token_bounds`).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

# Overheads are guesses with room to spare: providers don't publish their templates. One that is too small shows
# itself, since the meter raises its bounds by whatever a provider reports beyond them.

# A chat template's addition to any prompt: a date line, a default system text, the opening of the answer.
BASE_OVERHEAD_TOKENS = 96

# A chat template's addition to one message: its role and its delimiters.
MESSAGE_OVERHEAD_TOKENS = 16

# A provider's words around a response schema that explain it to the model.
SCHEMA_OVERHEAD_TOKENS = 256

# Times a bound from which on a count is absurd. Less may be true: a proxy that adds a prompt of its own, a model that
# thinks beyond its cap. A guess.
ABSURD_TIMES = 8

# A provider's words around tool declarations.
TOOLS_OVERHEAD_TOKENS = 1024

# The same two for a measured bound. A guess: ChatML takes 13 for two messages, Llama 3 with its lines of dates 38.
USUAL_BASE_TOKENS = 40
USUAL_MESSAGE_TOKENS = 6

# Bytes of one token on average over a prompt, at most: in ASCII, and in other characters. Pages in English have 4.98
# with o200k, and in Russian 6.85. The margin is a guess.
MOST_BYTES_PER_TOKEN = 6
MOST_OTHER_BYTES_PER_TOKEN = 12
_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)

# Pieces of text that tokenizers treat alike.
_PIECES = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digits>\d+)|(?P<blanks>[^\S\n]{2,})|(?P<mark>[!-/:-@\[-`{-~])"
    r"|(?P<european>[\u0080-\u052f]+)|(?P<other>[^\x00-\x7f\u0080-\u052f]+)"
)
# Letters of a word that one token holds, and letters of each further one; first for English, which tokenizers know
# best, then for other languages.
_ENGLISH_LETTERS, _OTHER_LETTERS = (5, 4.0), (2, 2.8)
_DIGIT_TOKENS, _MARK_TOKENS = 0.8, 0.9
# Words of a line from which its language is told, and the share of English function words there. A guess.
_MIN_WORDS, _MIN_ENGLISH_SHARE = 8, 0.15
_ENGLISH_WORDS = """
a all an and are as at be been but by can for from had has have if in into is it its more not of on only or
out so than that the their them there they this to up was were what when which who will with would you
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())

# Words of services for a prompt that does not fit, where their error's type does not tell.
TOO_LONG = re.compile(
    r"prompt is too long|maximum context length|context (?:size|length|window|limit)|exceeds? .*context",
    re.IGNORECASE,
)


def most_tokens(request: Any) -> int:
    """Return an upper bound on the tokens of an lm15 Request's prompt: no tokenizer makes more tokens than bytes."""
    total = BASE_OVERHEAD_TOKENS + template_overhead(request)
    for text in prompt_texts(request):
        if text.isascii():
            total += len(text)
        else:
            # Byte-level and byte-fallback tokenizers (BPE, unigram) use at least one byte for a token. Those that
            # normalise first (NFKC, NFKD) may lengthen the text, so the longest form counts.
            forms = (text, unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKD", text))
            total += max(len(form.encode("utf-8", "surrogatepass")) for form in forms)
    schema = (request.config.response_format or {}).get("schema")
    if schema:
        total += SCHEMA_OVERHEAD_TOKENS + _as_written(schema)
    if request.tools:
        total += TOOLS_OVERHEAD_TOKENS
        for tool in request.tools:
            names = ("name", "description", "parameters", "config")
            total += _as_written(
                {name: getattr(tool, name) for name in names if getattr(tool, name, None) is not None}
            )
    return total


def usual_most_tokens(request: Any) -> int:
    """Return a measured upper bound on the tokens of a prompt.

    Of 307 pages, five tokenizers count 0.51 to 1.05 times as many; text at random has more. What a server reports
    beyond it raises later bounds.
    """
    texts = [*prompt_texts(request)]
    if schema := (request.config.response_format or {}).get("schema"):
        texts.append(json.dumps(schema, ensure_ascii=False))
    if request.tools:
        return most_tokens(request)
    parts = len(request.messages) + (1 if request.system else 0)
    counted = USUAL_BASE_TOKENS + USUAL_MESSAGE_TOKENS * parts + math.ceil(sum(map(_usual_most, texts)))
    return min(counted, most_tokens(request))


def _usual_most(text: str) -> float:
    total, whole, further = 0.0, *_ENGLISH_LETTERS
    for line in text.split("\n"):
        words = re.findall(r"[A-Za-z]+", line.lower())
        if len(words) >= _MIN_WORDS:
            is_english = sum(word in _ENGLISH for word in words) >= _MIN_ENGLISH_SHARE * len(words)
            whole, further = _ENGLISH_LETTERS if is_english else _OTHER_LETTERS
        total += 1  # the line's end
        for found in _PIECES.finditer(line):
            kind, piece = found.lastgroup, found[0]
            if kind == "word":
                total += 1 + max(0, len(piece) - whole) / further + sum(map(str.isupper, piece[1:])) / 3
            elif kind == "digits":
                total += _DIGIT_TOKENS * len(piece)
            elif kind == "blanks":
                total += 1
            elif kind == "mark":
                total += _MARK_TOKENS
            else:
                total += len(piece.encode("utf-8", "surrogatepass"))
    return total


def fewest_tokens(text: str) -> int:
    """Return a measured lower bound on the tokens of `text`: a count below it is none."""
    # One token can hold a long run of one character.
    text = _RUN.sub(r"\1\1\1", text)
    size = len(text.encode("utf-8", "surrogatepass"))
    other = size - sum(map(str.isascii, text))
    return max(bool(text), int((size - other) / MOST_BYTES_PER_TOKEN + other / MOST_OTHER_BYTES_PER_TOKEN))


def is_plausible(count: object, text: str, most: int) -> bool:
    """Return whether what a server says can be the number of tokens of `text`, of which `most` are a bound.

    Counts from outside are input: they may be negative, absurd, or no whole numbers. One that is too low, but that
    some tokenizer could give, can't be told from a true one.
    """
    is_whole = isinstance(count, int) and not isinstance(count, bool)
    return is_whole and fewest_tokens(text) <= count <= max(most, 1) * ABSURD_TIMES  # type: ignore[operator]


def template_overhead(request: Any) -> int:
    """Return the tokens that a chat template adds around the messages."""
    return MESSAGE_OVERHEAD_TOKENS * (len(request.messages) + (1 if request.system else 0))


def prompt_texts(request: Any) -> Iterator[str]:
    """Yield every text of the prompt: the system's and the messages'."""
    if isinstance(request.system, str):
        yield request.system
    else:
        yield from (_text_of(part) for part in request.system or ())
    for message in request.messages:
        yield from (_text_of(part) for part in message.parts)


def request_hash(request: Any) -> str:
    """Return a hash of all that can change the answer: the texts, the schema, and how it is sampled.

    The cap is left out, since a budget cuts it to what is left.
    """
    config = request.config
    asked = [
        request.model,
        list(prompt_texts(request)),
        config.response_format,
        [getattr(config, name, None) for name in ("temperature", "top_p", "stop")],
    ]
    return hashlib.sha256(json.dumps(asked, default=str).encode("utf-8")).hexdigest()[:24]


def _text_of(part: Any) -> str:
    text = getattr(part, "text", None)
    return text if isinstance(text, str) else repr(part)


def _as_written(value: Any) -> int:
    """Return the bytes of `value` in the longest form in which a template prints JSON: indented and escaped."""
    return len(json.dumps(value, indent=4, ensure_ascii=True, default=str))
