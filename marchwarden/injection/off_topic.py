"""Requests to the reader that have nothing to do with the page, as planted texts make them.

"Write a poem about the sea" is an exercise on a page about poems. On a page about a bridge it is meant for a model.
Words alone don't tell the two apart, so the request is compared with the rest of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from marchwarden.injection.obfuscation import in_latin
from marchwarden.text.ranking import guess_language, terms_of

# evals/reading/injections.py measures the effect of these numbers on attacks and on ordinary pages.
# Characters that are left out with a request, from its beginning: the text planted with it is short.
REACH_CHARS = 300
# Terms of the rest of a page; fewer say nothing about its subject.
MIN_TERMS_AROUND = 20
# Terms of a request; fewer can't be compared.
MIN_TERMS_ASKED = 2
# Share of a request's terms that the rest of the page may hold by chance.
MAX_SHARED = 0.25
# Terms of a page in which one mention of a term is chance as well.
TERMS_PER_CHANCE = 1500
# Questions off the topic that a page may have; one with more (jokes, a quiz, an interview) asks by its nature. Chosen
# on pages of trafilatura's tests, where a page of jokes had 21.
MAX_QUESTIONS = 5
# Characters by which the language of a page is recognised.
_SAMPLE_CHARS = 20_000
# Paragraphs before and after a request in which other items of a list of changes are looked for, and how many of them
# make such a list. Chosen on the changelogs of two programs, where 34 of 37 such items have so many around them.
CHANGES_AROUND = 8
MIN_CHANGES = 3

_VERBS = """
    write draft compose generate create produce provide give[ ](?:me|us|an?) show[ ](?:me|us|how) list explain
    describe summari[sz]e discuss outline define compare translate convert calculate compute solve encode decode teach
    tell[ ](?:me|us|an?) elaborate analyze analyse(?![ ](?:de[rsmn]?|einer|eines|von)[ ]) sketch
    implement recite rewrite paraphrase brainstorm invent
    break[ ]down come[ ]up[ ]with help[ ]me craft develop devise formulate prepare propose suggest construct
    make[ ](?:me|us|an?) put[ ]together identify illustrate evaluate assess pretend recommend sum[ ]up simplify
    replace substitute swap scramble jumble shuffle rearrange reverse misspell capitali[sz]e encrypt render introduce
    insert append incorporate integrate augment modify
    (?:schreib|verfass|erstell|erkl(?:ä|ae)r|beschreib|übersetz|nenn|zeig|berechn|erzähl)(?:e|en[ ]sie)? entwirf
    (?-i:[Gg]ib) fasse(?:n[ ]sie)? liste[ ](?:mir|uns|die|den|das|alle|les|des|tous|toutes|os|as|todos|todas)
    écri(?:s|vez) rédigez? composez? expliquez? traduis(?:ez)? donnez? décri(?:s|vez) résumez? calculez? racontez?
    montrez? listez
    escrib[ae] redact[ae] expli(?:ca|que) tradu(?:ce|zca) dame da[ ](?:una?s?|el|la|los|las) describ[ae] resum[ae]
    calcul[ae] cuent[ae] muestr[ae] enumer[ae]
    scrivi spiega traduci descrivi riassumi calcola racconta elenca mostra
    escreva traduza descreva conte mostre
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
# The start of a sentence, or of a part of it.
_OPENING = re.compile(r"(?:^|[:;(¿¡\[“\"„«—–-]\s*|\d\s+)(?=[^\W\d_])")
# In a row of cells, which often end without a mark, a capital letter may begin something too.
_OPENING_IN_CELL = re.compile(rf"{_OPENING.pattern}|(?<=[a-zß-ÿ)])\s(?=[A-ZÀ-ÞА-Я])")
_SOFT = r"(?:please|now|then|also|and|bitte|s[’']il te plaît|veuillez|por favor|per favore|пожалуйста|من فضلك)"
# Verbs of notices to readers, and no verbs at all.
_OF_NOTICES = r"(?:note|refer|remember|enable|bring|wait|see|contact|visit|do|be|no|not)\b"
# Verbs of orders for somebody's account. With "my" after them, a page speaks as its reader.
_OF_ACCOUNTS = (
    "add create delete transfer grant send forward set unlock update retrieve share access change make open"
)
_REQUEST = re.compile(
    rf"(?:{_SOFT},?\s+){{0,3}}(?:{_any_of(_VERBS)})\b(?![’'“”\"])"
    rf"|(?:please|can\s+you|could\s+you)\s+(?!{_OF_NOTICES})[a-z]+\b|(?:{_any_of(_OF_ACCOUNTS)})\s+my\b"
    r"|[请請]?(?:写|寫|翻译|翻譯|解释|解釋|描述|总结|列出|编写|生成|告诉|计算)",
    re.IGNORECASE,
)
_REQUEST_AT_END = re.compile(
    r"(?:ください|下さい|なさい|せよ|しろ|하세요|하십시오|해 ?줘|써 ?줘|लिखें|लिखो|बताएं|बताओ|समझाएं|करें|करो)\W*$"
)
# Words that are said only to somebody who is to write something.
_ASKED_OF_A_WRITER = re.compile(
    r"\b(?:your|deine[rnm]?|ihre[rnm]?|eure[rnm]?|votre|vos|tes|ta|tus?|sus?|sua|tua|vostr[aeo]|jouw|uw|tw[oó]j\w*)\s"
    r"(?:\w+\s)?(?:answer|repl(?:y|ie)|response|message|output|summar(?:y|ie)|wording|antwort(?:en)?|ausgabe"
    r"|zusammenfassung|réponse|résumé|respuesta|resumen|mensaje|risposta|riassunto|resposta|resumo|antwoord"
    r"|samenvatting|odpowied\w+)s?\b"
    r"|\bво?\s(?:сво[её]м|ваш\w*|тво\w*)\sответ\w*|(?:你|您)的(?:回答|回复|答案|总结)|(?:回答|返答|返信|要約)(?:に|を|で)",
    re.IGNORECASE,
)
_QUESTION = re.compile(rf"(?:{_any_of(_ASKING)})\b", re.IGNORECASE)
# Words that refer to the text before a question; a question for a model stands alone.
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|we|us|our|this|these|those"
    r"|(?<!cuál )(?<!qué )(?<!quién )es|er|ihn|ihm|sie|ihr|wir|uns|unser\w*|diese[rsn]?|da(?:bei|für|mit|ran|von|zu)"
    r"|elle|ils|elles|nous|nos|notre|cela|él|ella|ellos|nuestr\w+|esto)\b",
    re.IGNORECASE,
)
# A question of a page to its reader, or of its writer; but "Can you …?" and "How do I …?" are asked of models too, as
# are "Kannst du …?", "Wie kann ich …?" and "Pouvez-vous …?".
_OF_READER_OR_WRITER = re.compile(
    r"(?i:(?<!can )(?<!could )(?<!would )(?<!will )(?<!how do )(?<!thank )\byou\b(?! know)|\b(?:your|my)\b"
    rf"|\bwill you (?!(?:{_any_of(_VERBS)})\b))|(?<![Hh]ow do )(?<![Hh]ow can )\bI\b"
    r"|(?i:\b(?:mein|dein|eue?r)(?:e[mnrs]?)?\b|(?<!kann)(?<!könnte)st du\b|(?<!wie kann )\bich\b"
    r"|\b(?:darf|durfte|muss|musste|soll|sollte|konnte) man\b|\b(?:mon|votre|vos|tus?|mis?)\b"
    r"|(?<!pouvez[ -])(?<!pourriez[ -])\bvous\b)"
)
# An item of a list of changes, as "fix the reader, #12" or "docs: explain mounts": it ends without a mark.
_CHANGE = re.compile(
    r"(?:[^\s:]+(?:\s[^\s:]+){0,2}:\s)?(?:fix|add|update|bump|remove|delete|allow|use|improve|rename|move|support|handle"
    r"|avoid|drop|make|clean|refactor|implement|replace|deprecate|upgrade|document|test|prevent|don[’']?t|do\snot"
    r")(?:e?[sd])?\b(?!.*[.!?…]$)",
    re.IGNORECASE | re.DOTALL,
)
_THANKS = re.compile(
    r"\W*(?:many |herzlichen |vielen )?(?:thanks|thank you|thx|danke?|merci|gracias|grazie)\b", re.IGNORECASE
)
_QUESTION_END = re.compile(r"[?？؟]\W*$")
# Scripts of languages that mark requests and questions at the end of a sentence.
_BY_ITS_END = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0900-\u097f]")


@dataclass(frozen=True)
class Request:
    """A request in a paragraph; all places are offsets in characters."""

    start: int
    about: int
    """Start of the words for the thing that is asked for."""
    end: int
    is_question: bool = False
    """True for a question without a verb of order."""


def find_off_topic_requests(paragraphs: Sequence[str], *, only: int | None = None) -> dict[int, tuple[int, int]]:
    """Return start and end of the first request off the topic in each paragraph that has one, with the text after it.

    `only` is the place of the one paragraph to look at; None for all.
    """
    looked_at = range(len(paragraphs)) if only is None else (only,)
    requests = [(place, request) for place in looked_at for request in _requests(in_latin(paragraphs[place]))]
    if not requests:
        return {}
    asked = [paragraphs[place][request.about : request.end] for place, request in requests]
    beside = [paragraphs[place][request.start : request.start + REACH_CHARS] for place, request in requests]
    language = guess_language(" ".join(paragraphs)[:_SAMPLE_CHARS])
    words = terms_of([*asked, *beside, *paragraphs], language)
    everywhere = Counter(term for paragraph in words[2 * len(requests) :] for term in paragraph)
    total = everywhere.total()
    off_topic: list[tuple[int, Request]] = []
    for number, (place, request) in enumerate(requests):
        # The rest of the page is the page without the request and the text beside it.
        own_terms, own = set(words[number]), Counter(words[len(requests) + number])
        around = total - own.total()
        if len(own_terms) < MIN_TERMS_ASKED or around < MIN_TERMS_AROUND:
            continue
        shared = sum(everywhere[term] - own[term] > around // TERMS_PER_CHANCE for term in own_terms)
        if shared <= MAX_SHARED * len(own_terms) and not _is_change(paragraphs, place, request.start):
            off_topic.append((place, request))
    has_many_questions = sum(request.is_question for _, request in off_topic) > MAX_QUESTIONS
    found: dict[int, tuple[int, int]] = {}
    for place, request in off_topic:
        if not (request.is_question and has_many_questions):
            end = min(request.start + REACH_CHARS, len(paragraphs[place]))
            found.setdefault(place, (request.start, end))
    return found


def _is_change(paragraphs: Sequence[str], place: int, start: int) -> bool:
    """Return whether a request, which begins at `start`, is an item of a list of the changes to a program."""
    text = paragraphs[place].rstrip()
    if text.endswith((".", "!", "?", "…")) or text[:start].rstrip()[-1:] not in ("", ":"):
        return False
    around = [*paragraphs[max(0, place - CHANGES_AROUND) : place], *paragraphs[place + 1 :][:CHANGES_AROUND]]
    return sum(bool(_CHANGE.match(each)) for each in around) >= MIN_CHANGES


def _requests(text: str) -> Iterator[Request]:
    """Yield the requests of a paragraph, one at most for each sentence."""
    for sentence in _SENTENCE.finditer(text):
        start, end = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip()), sentence.end()
        asks = bool(_QUESTION_END.search(sentence[0])) and not (
            _REFERS_BACK.search(sentence[0]) or _OF_READER_OR_WRITER.search(sentence[0])
        )
        if _BY_ITS_END.search(sentence[0]) and (asks or _REQUEST_AT_END.search(sentence[0])):
            yield Request(start, start, end, is_question=not _REQUEST_AT_END.search(sentence[0]))
        elif request := _request_within(text, start, end, asks):
            yield request
        elif _ASKED_OF_A_WRITER.search(sentence[0]) and not _THANKS.match(sentence[0]):
            yield Request(start, start, end)


def _request_within(text: str, start: int, end: int, asks: bool) -> Request | None:
    openings = _OPENING_IN_CELL if " | " in text else _OPENING
    for opening in openings.finditer(text[start:end]):
        begin = start + opening.end()
        # A small letter begins a clause, or the rest of a sentence that an abbreviation cut off.
        if text[begin].islower() and begin > 0 and ":" not in opening[0]:
            continue
        if verb := _REQUEST.match(text, begin, end):
            return Request(begin, verb.end(), end)
        if asks and _QUESTION.match(text, begin, end):
            return Request(begin, begin, end, is_question=True)
    return None
