"""Kinds of answer (a date, a price, a length …): which a question asks for, and which a text holds.

Dates, numbers and names are asked for in nine languages, the other kinds in English.
"""

import re
from dataclasses import dataclass

from marchwarden.text.ranking import terms


@dataclass(frozen=True)
class AnswerKind:
    name: str
    asked: re.Pattern[str]
    """Pattern of questions that ask for this kind."""
    given: re.Pattern[str]
    """Pattern of answers of this kind."""


def _kind(name: str, asked: str, given: str, flags: re.RegexFlag = re.IGNORECASE) -> AnswerKind:
    return AnswerKind(name, re.compile(asked, re.IGNORECASE), re.compile(given, flags))


MONTH = r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
_NUMBER_WORDS = (
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|quarter|"
    r"third|twice|dozen)\b"
)

NAME = _kind(
    "name",
    r"\b(who|whom|whose|where|which (country|city|company|person|state))\b|\b(wer|wen|wem|wessen|wo|woher|wohin)\b|"
    r"^qui\b|\boù\b|\b(quién(es)?|dónde)\b|\b(кто|кого|кем|где|куда|откуда)\b|(^|\s)(من(?=\s(?!أي|أين))|أين)\s|"
    r"(किसने|कौन|कहाँ|कहां)|誰|どこ|谁|哪里|哪儿|哪裡",
    # Scripts without capitals can't tell a name.
    r"(?<=[\w,;:] )[A-ZÀ-ÞА-ЯЁ][\w’'-]+|[\u0621-\u064a\u0904-\u0939\u3041-\u30ff\u3400-\u9fff]{2}",
    re.RegexFlag(0),
)
# The first kind that a question asks for is the one that it wants.
GENERAL = (
    _kind(
        "date",
        r"\b(when|what year|which year|what date|since when)\b|\b(wann|welche[mns]? (jahr|tag|datum))\b|"
        r"\b(quand|quelle (année|date))\b|\b(cuándo|qué (año|fecha|día))\b|\b(когда|каком году|какого года)\b|"
        r"(^|\s)(متى|أي (عام|سنة|تاريخ))|(कब|किस (वर्ष|साल|दिन|तारीख))|いつ|何年|何月|何日|什么时候|什麼時候|"
        r"何时|哪一?年|哪天",
        rf"(?<!\d)(1[0-9]{{3}}|20[0-9]{{2}})(?!\d)|\b\d{{1,2}}(st|nd|rd|th)\b|{MONTH}",
        re.RegexFlag(0),
    ),
    _kind(
        "number",
        r"\bhow (many|much|long|far|old|tall|big|large|fast|high|deep|often|hot|cold|wide|heavy)\b|"
        r"\bwhat (percentage|share|number|population|temperature|size|record)\b|\bpopulation of\b|"
        r"\bwie (viele?|lange?|weit|alt|groß|hoch|tief|schnell|schwer|breit|oft|teuer)\b|\b(combien|quelle est la "
        r"(superficie|profondeur|hauteur|longueur|population|taille))\b|\b(cuánt[oa]s?|"
        r"qué (superficie|profundidad|altura|longitud|"
        r"población))\b|\b(сколько|насколько|какова (площадь|глубина|высота|длина|численность))\b|(^|\s)كم\s|"
        r"(कितन[ाीे])|いくつ|いくら|何[人個本件円メ点台]|どのくらい|どれくらい|多少|几[个人年岁次]|多[大高长深远]",
        rf"\d|{_NUMBER_WORDS}|[一二三四五六七八九十百千万億亿两〇]",
    ),
    NAME,
    _kind(
        "reason",
        r"\bwhy\b|\bwhat caused?s?\b",
        r"\b(because|since|due to|owing to|reason|causes?d?|so that|therefore|leads? to|led to|result)\b",
    ),
)

# A question can ask for several of these. An answer that holds one of them is enough.
SPECIFIC = (
    _kind(
        "price",
        r"\b(how much|what|which)\b.*\b(costs?|pay|paid|prices?|fees?|salary|spend|spent|earn\w*|revenue|turnover|"
        r"fined?|money|dollars|euros|pounds)\b",
        r"[$€£¥]\s?\d|\d[\d.,]*\s?(million |billion |trillion )?"
        r"(dollars|euros|pounds|francs|marks|shillings|yen|USD|EUR|GBP|cents|pence)",
    ),
    _kind(
        "share",
        r"\b(what|which) (share|percentage|proportion|fraction|part)\b|\bhow much of\b",
        r"%|per ?cent|\b(half|third|quarter|fifth|tenth|majority)\b|\bone in\b|\bout of\b",
    ),
    _kind(
        "people",
        r"\bhow many (people|inhabitants|residents|persons|workers|employees|visitors)\b",
        r"\d[\d,. ]*(million |thousand )?([\w-]+ )?(people|inhabitants|residents|persons|workers|employees|staff|"
        r"members|visitors|deaths|dead|died|victims|killed|lives|participants|patients|adults|women|men|children|players|"
        r"fans|refugees|tourists|souls)\b|\bpopulation\b|\bdeath toll\b",
    ),
    _kind("temperature", r"\bhow (hot|cold|warm)\b|\btemperature", r"°|\bdegrees\b"),
    _kind(
        "duration",
        r"\bhow (long|quickly|soon|old)\b|\bhow many (years|days|hours|minutes|weeks|months|seconds)\b|\bwhat age\b",
        r"\b(second|minute|hour|day|week|month|year|decade)s?\b|\bcentur(y|ies)\b",
    ),
    _kind(
        "length",
        r"\bhow (far|wide|tall|high|deep|long|big|large|thick)\b|\b(height|depth|width|length|distance|altitude)\b",
        r"\d\s?(km|kilomet|m\b|met(er|re)|cm|centimet|mm|millimet|feet|foot|ft|miles?|inch|acres?|hectares?|square)",
    ),
    _kind(
        "weight",
        r"\bhow heavy\b|\bweigh|\bmass\b",
        r"\d\s?(kg|kilo|g\b|grams?|tonnes?|tons?|pounds|lb|ounces?|mg|micrograms)",
    ),
)

_COUNTED = re.compile(
    r"\bhow many ((?:(?!(?:did|do|does|are|is|was|were|have|has|had|can|could|will|would|to|of|in|on|at|per|a|the|it|"
    r"there|they|for|people)\b)[\w-]+ ?){1,3})",
    re.IGNORECASE,
)


def general_kind(question: str) -> AnswerKind | None:
    return next((kind for kind in GENERAL if kind.asked.search(question)), None)


def specific_kinds(question: str) -> tuple[AnswerKind, ...]:
    return tuple(kind for kind in SPECIFIC if kind.asked.search(question))


def counted(question: str) -> frozenset[str]:
    """Return the terms of the things that "how many …" counts; a number of other things is no answer."""
    found = _COUNTED.search(question)
    return frozenset(terms(found[1])) if found else frozenset()
