"""Terms of texts, their BM25 scores for a query, the coverage of a query, and copies of a text.

Pure functions on strings. Nothing here changes a text: it is normalised for matching only.

Own code beside bm25s' tokenizer: it knows no scripts without blanks (scripts.py), no thousands (`10,000`), no
apostrophes and no language of a text. Beside datasketch: its MinHash estimates a similarity that is exact here, for a
few dozen texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize
from zlib import crc32

import bm25s
import Stemmer

from marchwarden.text.scripts import has_kana, language_of_script, unspaced_terms
from marchwarden.text.stop_words import STOP_WORDS, language_code

# Words in a shingle: short enough to survive an edited sentence, long enough that common phrases don't match. This
# and the next four are guesses; tests/text/test_ranking.py shows what counts as a copy.
SHINGLE_WORDS = 4
# Two texts with at least this share of their shingles in common are copies.
SAME_JACCARD = 0.5
# So are they where the shorter one is inside the longer one by this share: a copy with teasers or comments.
SAME_CONTAINMENT = 0.75
# But not where the shorter one has fewer than this share of the other's shingles: then it is a quotation.
SAME_LENGTH_RATIO = 0.25
# Texts with fewer shingles are copies only where they are the same, word by word.
LEAST_SHINGLES = 8

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
# The languages that each word is a stop word of.
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _stop in STOP_WORDS.items():
    for _each in _stop:
        _LANGUAGES_OF.setdefault(_each, []).append(_language)

# Python's \w leaves out combining vowel signs, without which words of Indic and related scripts fall to pieces:
# their blocks are taken whole (without the dandas ।॥), as are the combining marks of Latin, Hebrew and Arabic.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0eff\u1000-\u109f\u1780-\u17d3"
)
_WORD = re.compile(rf"\d+(?:[.,]\d+)+(?!\w)|[\w{_MARKS}]+(?:'[\w{_MARKS}]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_APOSTROPHES = "\u2018\u2019\u02bc\u00b4`"
_ACCENTS = re.compile("[\u0300-\u036f]")


def terms(text: str, language: str = "en") -> list[str]:
    """Return the terms of `text` for matching, in order, with repeats: stems, without stop words.

    `language` is an ISO 639-1 code, or a tag such as `en-GB`. Without a stemmer or stop words for it, words stay
    whole. Numbers are kept (`10,000` is `10000`). Scripts without spaces give pairs of characters.
    """
    return terms_of([text], language)[0]


def terms_of(texts: Iterable[str], language: str = "en") -> list[list[str]]:
    """Return the `terms` of each text; five times as fast as one by one, since the stemmer remembers its stems."""
    code = language_code(language)
    stop = STOP_WORDS.get(code, frozenset())
    stem = Stemmer.Stemmer(_STEMMERS[code]).stemWords if code in _STEMMERS else list
    found: list[list[str]] = []
    for text in texts:
        stems = stem([word for word in _words(text, code) if word not in stop])
        # A word that was nothing but accents vanishes.
        plain = (
            word if word.isascii() else normalize("NFC", _ACCENTS.sub("", normalize("NFD", word))) for word in stems
        )
        found.append([word for word in plain if word])
    return found


def query_words(text: str) -> list[str]:
    """Return the words of a text as they are written, but for case and typography, in order, with repeats."""
    return _words(text, "en")


def query_terms(query: str, languages: Iterable[str]) -> list[str]:
    """Return the terms of a query over texts in several languages, each once.

    A query whose stop words show its language is read in that one; any other in all of them, English first.
    """
    words = _words(query, "en")
    known = {language_code(language) for language in languages} | {"en"}
    hits = {code: len(STOP_WORDS.get(code, frozenset()).intersection(words)) for code in sorted(known)}
    likeliest = max(hits, key=hits.__getitem__)
    # One stop word may be chance: "AI" is a French one.
    if hits["en"] >= hits[likeliest] - 1:
        likeliest = "en"
    told = " ".join(word for word in words if word not in STOP_WORDS.get(likeliest, frozenset()))
    readings = [likeliest] if hits[likeliest] > 1 else sorted(known, key=lambda code: code != likeliest)
    return list(dict.fromkeys(term for code in readings for term in terms(told, code)))


def guess_language(text: str) -> str:
    """Return the language (ISO 639-1) that the script tells, or whose stop words are used most; English for none.

    A table of names and numbers is in none: "Hans" is a stop word of Dutch, and "van" stands in names.
    """
    if told := language_of_script(text):
        return told
    uses = _stop_word_uses(text)
    return max(uses, key=lambda code: (uses[code].total(), code == "en"), default="en")


def told_language(text: str, declared: str | None) -> str:
    """Return the declared language, unless the stop words of `text` are clearly those of another.

    Then, or where none is declared, that one.
    """
    # Pages often declare the language of the template that they are made with.
    if declared is None:
        return guess_language(text)
    uses = {code: words.total() for code, words in _stop_word_uses(text).items()}
    likeliest = max(uses, key=lambda code: (uses[code], code == "en"), default="en")
    most = uses.get(likeliest, 0)
    clearly = most >= _MIN_STOP_WORDS and most > 2 * uses.get(language_code(declared), 0)
    return likeliest if clearly and language_code(declared) in STOP_WORDS else declared


# Stop words of another language that outweigh the declared one. A guess.
_MIN_STOP_WORDS = 12


# A text of more words than a question tells its language by so many different stop words at least. Guesses: 20 words
# of prose have about six.
_WORDS_OF_QUESTION, _LEAST_DIFFERENT = 20, 4


def _stop_word_uses(text: str) -> dict[str, Counter[str]]:
    """Return the stop words of each language that tells itself by them, with the number of their uses."""
    words = Counter(_words(text, "en"))
    # A capital inside a sentence makes a name, where small letters are used at all.
    for name in _NAME.findall(text) if _SMALL_WORD.search(text) else ():
        word = name.casefold()
        words[word] -= 1
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    for word, times in words.items():
        for code in _LANGUAGES_OF.get(word, ()) if times > 0 else ():
            uses[code][word] = times
    least = _LEAST_DIFFERENT if words.total() > _WORDS_OF_QUESTION else 1
    return {code: found for code, found in uses.items() if len(found) >= least}


_NAME = re.compile(r"(?<=[^.!?…] )[A-ZÀ-Þ]\w*")
_SMALL_WORD = re.compile(r"\b[a-zß-ÿ]{2,}")


def rank(query: str, texts: Sequence[str], *, language: str = "en") -> list[float]:
    """Return the BM25 score of each text for `query`, aligned with `texts`; 0 where they share no term."""
    asked, *read = terms_of([query, *texts], language)
    return rank_terms(asked, read)


def rank_terms(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text, given the `terms` of the query and of the texts."""
    asked = {term: number for number, term in enumerate(dict.fromkeys(query), start=1)}
    ids = [[asked.get(term, 0) for term in text] for text in texts]  # 0: counts for a text's length only
    if not any(map(any, ids)):
        return [0.0] * len(texts)
    index = bm25s.BM25(method="lucene")
    index.index((ids, {"": 0, **asked}), create_empty_token=False, show_progress=False)
    return [float(score) for score in index.get_scores(list(asked.values()))]


def term_weights(texts: Iterable[Collection[str]]) -> dict[str, float]:
    """Return the weight of each term in these texts (lists of terms): BM25's inverse document frequency, always >
    0."""
    frequencies: Counter[str] = Counter()
    count = 0
    for text in texts:
        frequencies.update(set(text))
        count += 1
    return {term: math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in frequencies.items()}


def coverage(query_terms: Iterable[str], text_terms: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the share (0–1) of the query's terms that the text holds, each counted once and by its weight.

    A term without weight is in no text, so it weighs as much as the heaviest. 0 for a query without terms.
    """
    asked = set(query_terms)
    unknown = max(weights.values(), default=1.0)
    total = sum(weights.get(term, unknown) for term in asked)
    if total <= 0:
        return 0.0
    return sum(weights.get(term, unknown) for term in asked.intersection(text_terms)) / total


@dataclass(frozen=True)
class Signature:
    """Shingles of a text, by which copies of it are recognised (w-shingling, Broder 1997)."""

    shingles: frozenset[int]
    whole: int
    """Checksum of all words."""


def signature(text: str) -> Signature:
    words = [word.encode() for word in _words(text, "")]
    runs = zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)
    return Signature(frozenset(crc32(b" ".join(run)) for run in runs), crc32(b" ".join(words)))


def near_duplicate(a: str | Signature, b: str | Signature) -> bool:
    """Return whether one text is a copy of the other, but for typography, boilerplate and an edited sentence.

    Give signatures where each text is compared with many. Two empty texts are no copies.
    """
    one, other = (each if isinstance(each, Signature) else signature(each) for each in (a, b))
    smaller, larger = sorted((len(one.shingles), len(other.shingles)))
    if smaller < LEAST_SHINGLES:
        return one.whole == other.whole and one.whole != crc32(b"")
    shared = len(one.shingles & other.shingles)
    if shared / (smaller + larger - shared) >= SAME_JACCARD:
        return True
    return smaller / larger >= SAME_LENGTH_RATIO and shared / smaller >= SAME_CONTAINMENT


def _words(text: str, code: str) -> list[str]:
    """Split a text into casefolded words, composed by compatibility (NFKC): ligatures and full-width forms vanish."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
        # A tenth of the time that `translate` takes.
        for apostrophe in _APOSTROPHES:
            text = text.replace(apostrophe, "'")
        text = normalize("NFKC", text)
    words: list[str] = []
    is_japanese = has_kana(text)
    for word in _WORD.findall(text.casefold().replace("_", " ")):
        if word.isalpha() and word.isascii():
            words.append(word)
        elif word[0].isdigit() and _THOUSANDS.fullmatch(word):
            words.append(word.replace(",", ""))
        elif "'" in word and code != "en":  # in other languages it joins words: l'eau, dell'acqua
            words.extend(word.split("'"))
        elif word.isascii():
            words.append(word)
        else:
            words.extend(unspaced_terms(word, is_japanese=is_japanese))
    return words
