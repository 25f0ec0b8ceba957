"""Where a page asks its reader for something that has nothing to do with the page, as a planted text does.

"Write a poem about the sea" is an exercise on a page about poems; on one about a bridge it is for somebody else than
the bridge's readers. Words alone don't tell the two apart: what is asked for is compared with the rest of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from marchwarden.text.ranking import guess_language, terms_of

REACH = 300
"""Characters that go with an errand, from its beginning: what is planted beside one is short."""
LEAST_AROUND = 20
"""Terms of the rest of a page, below which nothing can be said about its subject."""
LEAST_ASKED = 2
"""Terms that what is asked for must have, to be compared."""
SHARED = 0.25
"""The share of those that the rest of the page may hold by chance."""
BY_CHANCE = 1500
"""One mention of a term in so many terms of a page is chance as well."""
_SAMPLE = 20_000
"""Characters that tell a page's language."""

_VERBS = """
    write draft compose generate create produce provide give[ ](?:me|us|an?) show[ ](?:me|us|how) list explain
    describe summari[sz]e discuss outline define compare translate convert calculate compute solve encode decode teach
    tell[ ](?:me|us|an?) elaborate analy[sz]e sketch implement recite rewrite paraphrase brainstorm invent
    break[ ]down come[ ]up[ ]with help[ ]me craft develop devise formulate prepare propose suggest construct
    make[ ](?:me|us|an?) put[ ]together identify illustrate evaluate assess pretend recommend sum[ ]up simplify
    replace substitute swap scramble jumble shuffle rearrange reverse misspell capitali[sz]e encrypt render introduce
    insert append incorporate integrate augment modify
    schreibe?n? verfassen? verfasse entwirf erstellen? erkl(?:ä|ae)ren? beschreiben? übersetzen? nennen? zeigen? gib
    berechnen? erzählen? fassen? liste
    écri(?:s|vez) rédigez? composez? expliquez? traduis(?:ez)? donnez? décri(?:s|vez) résumez? calculez? racontez?
    montrez? listez?
    escrib[ae] redact[ae] expli(?:ca|que) tradu(?:ce|zca) da(?:me)? describ[ae] resum[ae] calcul[ae] cuent[ae]
    muestr[ae] enumer[ae]
    scrivi spiega traduci descrivi riassumi calcola racconta elenca mostra
    escreva traduza descreva conte liste mostre
    schrijf vertaal beschrijf geef bereken leg
    напиши(?:те)? объясни(?:те)? переведи(?:те)? опиши(?:те)? расскажи(?:те)? перечисли(?:те)? составь(?:те)?
    напишіть napisz przetłumacz opisz wyjaśnij yaz açıkla çevir anlat
    اكتب ترجم اشرح لخص صف اذكر
"""
_ASKING = """
    what what[’']s who who[’']s when where which why how can[ ]you could[ ]you would[ ]you will[ ]you do[ ]you[ ]know
    was wer wann wo warum wieso wie welche[rsnm]? kannst können
    qu(?:el(?:le)?s?|e|[’']est-ce) qui quand où pourquoi comment combien peux pouvez
    qué quién cuándo dónde cuál(?:es)? cómo puedes podría
    che chi quando dove perché come quale quali puoi
    o[ ]que quem onde como qual quais
    wat wanneer waar hoe welke
    что кто когда где почему как какие какой какая какова
    co kto kiedy gdzie jak ne kim nerede nasıl
    ما من متى أين لماذا كيف هل
"""


def _any_of(words: str) -> str:
    return "|".join(sorted(words.replace("[ ]", "\0").split(), key=len, reverse=True)).replace("\0", r"\s")


_SENTENCE = re.compile(r"[^.!?…。！？؟।|\n]+[.!?…。！？؟।]*")
_OPENING = re.compile(r"(?:^|[:;(\[“\"„«—–-]\s*|\d\s+)(?=[^\W\d_])")
"""Where a sentence begins, or something within it does."""
_OPENING_IN_CELL = re.compile(rf"{_OPENING.pattern}|(?<=[a-zß-ÿ)])\s(?=[A-ZÀ-ÞА-Я])")
"""In a row of cells, which often end without a mark, a capital letter may begin something too."""
_SOFT = r"(?:please|now|then|also|and|bitte|s[’']il te plaît|veuillez|por favor|per favore|пожалуйста|من فضلك)"
_REQUEST = re.compile(
    rf"(?:{_SOFT},?\s+){{0,3}}(?:{_any_of(_VERBS)})\b(?![’'])"
    r"|[请請]?(?:写|寫|翻译|翻譯|解释|解釋|描述|总结|列出|编写|生成|告诉|计算)",
    re.IGNORECASE,
)
_REQUEST_AT_END = re.compile(
    r"(?:ください|下さい|なさい|せよ|しろ|하세요|하십시오|해 ?줘|써 ?줘|लिखें|लिखो|बताएं|बताओ|समझाएं|करें|करो)\W*$"
)
_ASKED_OF_A_WRITER = re.compile(
    r"\b(?:your|deine[rnm]?|ihre[rnm]?|eure[rnm]?|votre|vos|tes|ta|tus?|sus?|sua|tua|vostr[aeo]|jouw|uw|tw[oó]j\w*)\s"
    r"(?:\w+\s)?(?:answer|repl(?:y|ie)|response|message|output|summar(?:y|ie)|wording|antwort(?:en)?|ausgabe"
    r"|zusammenfassung|réponse|résumé|respuesta|resumen|mensaje|risposta|riassunto|resposta|resumo|antwoord"
    r"|samenvatting|odpowied\w+)s?\b"
    r"|\bво?\s(?:сво[её]м|ваш\w*|тво\w*)\sответ\w*|(?:你|您)的(?:回答|回复|答案|总结)|(?:回答|返答|返信|要約)(?:に|を|で)",
    re.IGNORECASE,
)
"""What only somebody is told who is to write something."""
_QUESTION = re.compile(rf"(?:{_any_of(_ASKING)})\b", re.IGNORECASE)
_LEANS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|we|us|our|this|these|those"
    r"|es|sie|ihr|diese[rsn]?|elle|ils|elles|cela|él|ella|ellos|esto)\b",
    re.IGNORECASE,
)
"""What a question that goes on from the text before it says; one for somebody else stands alone."""
_QUESTION_END = re.compile(r"[?？؟]\W*$")
_BY_ITS_END = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0900-\u097f]")
"""Scripts of languages that say at a sentence's end what it is."""


@dataclass(frozen=True)
class Request:
    start: int
    about: int
    """Where what is asked for begins."""
    end: int


def errands(paragraphs: Sequence[str], *, only: int | None = None) -> dict[int, tuple[int, int]]:
    """The span in each paragraph that has an errand: from the first one's beginning, with what stands after it.
    `only`: the place of the one paragraph to look at."""
    looked_at = range(len(paragraphs)) if only is None else (only,)
    requests = [(place, request) for place in looked_at for request in _requests(paragraphs[place])]
    if not requests:
        return {}
    asked = [paragraphs[place][request.about : request.end] for place, request in requests]
    beside = [paragraphs[place][request.start : request.start + REACH] for place, request in requests]
    language = guess_language(" ".join(paragraphs)[:_SAMPLE])
    words = terms_of([*asked, *beside, *paragraphs], language)
    everywhere = Counter(term for paragraph in words[2 * len(requests) :] for term in paragraph)
    total = everywhere.total()
    found: dict[int, tuple[int, int]] = {}
    for number, (place, request) in enumerate(requests):
        if place not in found and _is_foreign(words[number], words[len(requests) + number], everywhere, total):
            found[place] = (request.start, request.start + len(beside[number]))
    return found


def _is_foreign(asked: Sequence[str], beside: Sequence[str], everywhere: Counter[str], total: int) -> bool:
    """Whether the rest of the page, without what is asked for and what stands beside it, is about something else."""
    about, around = set(asked), total - len(beside)
    if len(about) < LEAST_ASKED or around < LEAST_AROUND:
        return False
    own = Counter(beside)
    return sum(everywhere[term] - own[term] > around // BY_CHANCE for term in about) <= SHARED * len(about)


def _requests(text: str) -> Iterator[Request]:
    """Where a paragraph asks for something."""
    for sentence in _SENTENCE.finditer(text):
        start, end = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip()), sentence.end()
        asks = bool(_QUESTION_END.search(sentence[0])) and not _LEANS_BACK.search(sentence[0])
        if _BY_ITS_END.search(sentence[0]) and (asks or _REQUEST_AT_END.search(sentence[0])):
            yield Request(start, start, end)
        elif request := _request_within(text, start, end, asks):
            yield request
        elif _ASKED_OF_A_WRITER.search(sentence[0]):
            yield Request(start, start, end)


def _request_within(text: str, start: int, end: int, asks: bool) -> Request | None:
    openings = _OPENING_IN_CELL if " | " in text else _OPENING
    for opening in openings.finditer(text[start:end]):
        begin = start + opening.end()
        if text[begin].islower() and begin > 0 and ":" not in opening[0]:
            continue  # a clause, or what an abbreviation cut off
        if verb := _REQUEST.match(text, begin, end):
            return Request(begin, verb.end(), end)
        if asks and _QUESTION.match(text, begin, end):
            return Request(begin, begin, end)
    return None
