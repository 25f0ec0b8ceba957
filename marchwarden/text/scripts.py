"""Terms of scripts that put no blanks between words, or join particles to them, and the language that a script tells.

Own code beside segmenters such as jieba, MeCab and budoux: each knows one or few of these languages, and most bring a
dictionary of many MB. Pairs of characters find what words find once particles and words that only ask are left out:
`marchwarden eval --questions evals/languages/questions.jsonl --web evals/languages/web` measures it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

# Thai, Lao, Khmer, Myanmar, kana, Han.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_RUN = re.compile(f"[{UNSPACED}]+")
_SEGMENT = re.compile("[\u3041-\u309f]+|[\u30a0-\u30ff]+|[^\u3041-\u30ff]+")
_HIRAGANA = re.compile("[\u3041-\u309f]+")
# Particles, endings, and words that only ask, of Japanese.
_JAPANESE_WORDS = (
    "は が を に へ と で も の や か な ね よ ば て た だ です でした ですか ます "
    "ました ますか ましたか ません でしょう する した して し され された されて される さ "
    "れ れた いる いた います いました いて い ある あり あります ない なく なる なった "
    "なって なり から まで より など だけ ほど くらい ぐらい どの どれ どこ どう "
    "どのくらい どのような なに なぜ いつ いくら いくつ だれ どなた これ それ この その "
    "こと もの ため ために について における により によって として という といい そして "
    "また および ください"
)
_JAPANESE = "|".join(sorted(_JAPANESE_WORDS.split(), key=len, reverse=True))
_JAPANESE_ENDS = re.compile(rf"^(?:{_JAPANESE})+|(?:{_JAPANESE})+$")
_ASKING_HAN = re.compile("何[人年月日時分歳回個本件円点台冊]?|誰|幾つ|幾")
# Function words, and words that only ask, of Chinese.
_CHINESE = re.compile(
    "什么时候|什麼時候|什么|什麼|多少|哪里|哪裡|哪儿|哪一|哪个|哪個|哪些|哪|为什么|為什麼|为何|為何|怎么|怎麼|怎样|怎樣|如何|是否|请问|請問|"
    "[谁誰几幾吗嗎呢的了是在和与與于於为為有被由从從之也都就这這那个個一自]"
)
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_KOREAN_ENDING = re.compile(
    "(?:은|는|이|가|을|를|의|에|에서|에게|으로|로|와|과|도|만|까지|부터|보다|이다|입니다|입니까|인가요|인가|였습니다|했습니까|했습니다|합니까|"
    "합니다|되었습니까|되었습니다|됩니까|있습니까|있습니다|하나요|나요|하는|했다|된다|한다)$"
)
_KOREAN_ASKING = re.compile("(?:누구|누가|언제|어디|어느|무엇|무슨|얼마|얼마나|몇|왜|어떻게)(?:나|의|에서|에)?")
# Letters of each script, by the language that it is likeliest in.
_SCRIPTS = {
    "ja": _KANA,
    "zh": re.compile("[\u3400-\u9fff]"),
    "ko": _HANGUL,
    "th": re.compile("[\u0e01-\u0e4e]"),
    "hi": re.compile("[\u0904-\u0939]"),
    "ar": re.compile("[\u0621-\u064a]"),
    "ru": re.compile("[\u0430-\u044f\u0451]", re.IGNORECASE),
    "el": re.compile("[\u03b1-\u03c9]", re.IGNORECASE),
    "he": re.compile("[\u05d0-\u05ea]"),
}
# Letters of a language that shares a script with another one.
_TELLING_LETTERS = {
    "ar": ("fa", re.compile("[\u067e\u0686\u0698\u06af]")),
    "ru": ("uk", re.compile("[\u0456\u0457\u0454\u0491]", re.IGNORECASE)),
}
# Characters by which a script is recognised, and the least share of its letters. Guesses.
_SAMPLE_CHARS, _LEAST_SHARE = 600, 0.5


def unspaced_terms(word: str, *, is_japanese: bool) -> Iterator[str]:
    """Yield the terms of a word, in order: pairs of characters where it has no blanks, else the word itself."""
    if _HANGUL.fullmatch(word):
        bare = _KOREAN_ENDING.sub("", word) if len(word) > 2 else word
        if not _KOREAN_ASKING.fullmatch(bare):
            yield from pairs(bare) if len(bare) > 1 else [word]
        return
    end = 0
    for run in _RUN.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        parts: list[str] = []
        if is_japanese:
            for segment in _SEGMENT.findall(run[0]):
                is_hiragana = _HIRAGANA.fullmatch(segment)
                parts += [_JAPANESE_ENDS.sub("", segment)] if is_hiragana else _ASKING_HAN.split(segment)
        else:
            parts = _CHINESE.split(run[0])
        for part in parts:
            yield from pairs(part)
        end = run.end()
    if end < len(word):
        yield word[end:]


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of a run; one character alone is its own term."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))] if run else []


def has_kana(text: str) -> bool:
    return _KANA.search(text) is not None


def language_of_script(text: str) -> str | None:
    """Return the likeliest language (ISO 639-1) of a text that is mostly in one script; None for Latin letters."""
    sample = text[:_SAMPLE_CHARS]
    if sample.isascii():
        return None
    letters = sum(map(str.isalpha, sample))
    found = Counter({code: sum(map(len, letter.findall(sample))) for code, letter in _SCRIPTS.items()})
    if found["ja"]:
        found["ja"] += found.pop("zh")
    code, count = found.most_common(1)[0]
    if not count or count < _LEAST_SHARE * letters:
        return None
    other, telling = _TELLING_LETTERS.get(code, ("", None))
    return other if telling and telling.search(sample) else code
