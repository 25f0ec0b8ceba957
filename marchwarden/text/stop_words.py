"""Stop words of languages: the words that a text is not told apart by."""

from collections.abc import Sequence

import bm25s.stopwords

# bm25s has none of Arabic and Hindi: the words that are most frequent, and those that ask.
_ARABIC_STOP_WORDS = (
    "من في على إلى عن مع هذا هذه ذلك تلك التي الذي الذين أن إن كان كانت يكون هو هي هم ما ماذا متى أين كم كيف لماذا "
    "هل أي أو ثم قد لقد لا لم لن ليس كل بعض بعد قبل عند عندما حتى منذ بين كما لكن لأن و يبلغ تبلغ"
)
_HINDI_STOP_WORDS = (
    "का के की को में से पर और है हैं था थी थे यह ये वह वे इस उस इन उन एक ने तक भी ही हो हुआ हुई हुए होता होती होते "
    "कर करने किया की लिए साथ या कि जो जब तो क्या कब कहाँ कहां कौन किसने किस क्यों कैसे कितना कितनी कितने नहीं अपने जिस"
)
_STOP_LISTS: dict[str, Sequence[str]] = {
    "ar": _ARABIC_STOP_WORDS.split(),
    "hi": _HINDI_STOP_WORDS.split(),
    "da": bm25s.stopwords.STOPWORDS_DANISH,
    "de": bm25s.stopwords.STOPWORDS_GERMAN,
    "en": (*bm25s.stopwords.STOPWORDS_EN_PLUS, "also", "could", "may", "might", "would"),
    "es": bm25s.stopwords.STOPWORDS_SPANISH,
    "fr": bm25s.stopwords.STOPWORDS_FRENCH,
    "it": bm25s.stopwords.STOPWORDS_ITALIAN,
    "nl": bm25s.stopwords.STOPWORDS_DUTCH,
    "no": bm25s.stopwords.STOPWORDS_NORWEGIAN,
    "pt": bm25s.stopwords.STOPWORDS_PORTUGUESE,
    "ru": bm25s.stopwords.STOPWORDS_RUSSIAN,
    "sv": bm25s.stopwords.STOPWORDS_SWEDISH,
    "tr": bm25s.stopwords.STOPWORDS_TURKISH,
}
STOP_WORDS = {code: frozenset(word.casefold() for word in words) for code, words in _STOP_LISTS.items()}


def language_code(language: str) -> str:
    """Return the ISO 639-1 code of a language tag such as `en-GB`; both forms of Norwegian are `no`."""
    code = language.partition("-")[0].partition("_")[0].lower()
    return "no" if code in ("nb", "nn") else code


def is_stop_word(word: str, language: str) -> bool:
    return word.casefold() in STOP_WORDS.get(language_code(language), ())
