"""Tell what a text asks from what stands around it: greetings, setting, instructions on the form of the answer.

Rules on the openings of sentences. question.py divides what asks further, into clauses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from marchwarden.text.segmentation.sentences import sentences

ASKING = r"(?:what|who|whom|whose|when|where|which|how|why)\b"
INVERTED = r"(?:is|are|does|do|did|was|were|has|have|had|can|could|should|will|would|may|must)\b"
PREPOSITION = r"(?:(?:in|at|by|for|to|up to|from|of|on|after|before|under|with|since|until|about|between) )"
QUESTION_MARK = "?？؟"
# Asking words of other languages, each with the prepositions before it.
ASKING_IN = {
    "de": r"(?:(?:seit |von |bis |in |an |mit )?"
    r"(?:wer|wen|wem|wessen|wann|wo|wohin|woher|warum|weshalb|wieso|wie|was|welche[rsmn]?))\b",
    "fr": r"(?:(?:depuis |à |de |en |dans )?(?:qui|quand|où|pourquoi|comment|combien|quel(?:le)?s?))\b",
    "es": r"(?:(?:desde |en |de |a )?"
    r"(?:quién(?:es)?|cuándo|dónde|por qué|cómo|cuánt[oa]s?|cuál(?:es)?|qué))\b",
    "ru": r"(?:(?:с |в |от |на )?(?:кто|кого|кем|когда|где|почему|зачем|сколько|как(?:ой|ая|ие|ое|ом|ова)?))\b",
}
FOREIGN_ASKING = f"(?:{'|'.join(ASKING_IN.values())})"

_NUMBER = r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of|some)"
_UNIT_OF_TEXT = (
    r"(?:sentences?|words?|lines?|paragraphs?|bullet points?|bullets?|points?|tables?|lists?|pages?|summary|"
    r"simple (?:words|terms|language)|plain (?:words|language|english)|markdown|json|english|german|french|spanish)"
)
_SIZE = (
    rf"(?:(?:{_NUMBER}|short|brief|simple|plain|bulleted|numbered|neat|small|single|full|complete|no more than|"
    r"at most|max\.?) )*"
)
_PROOF = r"(?:sources?|citations?|references?|links?|quotes?|quotations?|urls?|evidence|footnotes?)"
_BRIEFLY = r"(?:briefly|shortly|concisely|in short|in brief|in detail|in depth|step by step|quickly)"
# One instruction on the form of the answer, which may stand as a sentence or at the end of one that asks.
_IN_FORM = (
    rf"(?:please|thanks(?: a lot)?|thank you|asap|if possible|{_BRIEFLY}|in {_SIZE}{_UNIT_OF_TEXT}|"
    rf"as {_SIZE}{_UNIT_OF_TEXT}|with (?:your |the |all |some |good |reliable )?{_PROOF}|"
    r"bitte|danke|kurz|s['’]il (?:te|vous) pla[iî]t|merci|por favor|gracias|пожалуйста|спасибо)"
)
_BEGINNING = re.compile(
    rf"^(?:(?:hi|hello|hey|dear \w+|good (?:morning|day|afternoon|evening)|ok(?:ay)?|so|well|also|and|quick "
    rf"question|"
    rf"(?:my |the |a )?questions?(?: is)?|q|just curious|out of curiosity|{_IN_FORM})\s*[,:!–—-]\s*|please |"
    rf"briefly |"
    r"bitte |por favor )+",
    re.IGNORECASE,
)
_PROVE = (
    r"(?:cite|give|include|provide|quote|add|list|name|mention|state) (?:me |us )?(?:(?:your|the|all|any|a) )?"
    rf"{_PROOF}"
)
_ENDING = re.compile(
    rf"(?:[\s,;(–—-]+(?:and |but )?(?:{_IN_FORM}|{_PROVE})\)?)+(?=[\s.!{QUESTION_MARK}]*$)", re.IGNORECASE
)
_POLITE = (
    r"(?:(?:and|but|also|so|then) )?(?:please,? |kindly |just )*"
    r"(?:(?:can|could|would|will) you (?:please |also |just )*)?"
)
_ON_THE_FORM = re.compile(
    rf"^{_POLITE}(?:"
    r"(?:answer|reply|respond)\b(?! to (?!(?:me|us|this|that|it)\b))|"
    r"be (?:as )?(?:brief|concise|short|precise|exact|careful|honest|specific|accurate|thorough)|"
    r"(?:keep|make|put|write|phrase|format) (?:it|this|that|them|your answer|the answer|your reply|answers?)\b|"
    r"make sure|"
    rf"(?:give|provide|include|add|cite|quote|show|list|name|state|mention|use|link|return|write|send|i (?:only "
    rf"|just )?(?:need|want)|"
    rf"i(?:['’]d| would) like)\b(?: me| us| to)?(?: (?:only|just|also|always))*"
    rf"(?: (?:the|your|my|all|any|an?|at least|{_NUMBER}|good|reliable|primary|direct|short|brief|quick|final|"
    rf"exact|solid|simple))*"
    rf" (?:answers?|{_PROOF}|{_UNIT_OF_TEXT})(?! (?:of|for|on|about|in the|from)\b)|"
    r"(?:do not|don['’]?t|never|avoid|without|no) (?:guess\w*|mak\w+|invent\w*|speculat\w*|hallucinat\w*|"
    r"us[ei]\w*|includ\w*|add\w*|writ\w*|giv\w*|"
    r"waffl\w*|fluff|introduction|preamble|explanations?|jargon|need to)|"
    r"i (?:need|want|would like) (?:it|this|that|them)\b|(?:it|this) is (?:very |quite )?(?:urgent|important|"
    r"for (?:my|our|a|an))|urgent|asap|"
    r"if (?:you (?:are|['’]re) )?(?:not sure|unsure|in doubt)|if you (?:don['’]t|do not|can['’]t|cannot) "
    r"(?:know|find|answer)|say so\b|"
    r"thanks|thank you|thx|many thanks|cheers|hi|hello|hey|dear|good (?:morning|day|afternoon|evening)|(?:kind |"
    r"best |warm )?regards|"
    r"(?:a|one) (?:short|brief|quick|simple) (?:answer|reply|summary|list|table)|(?:just|only) (?:the|a|one) "
    r"\w+(?: \w+)?\W*$|"
    rf"(?:no more than|not more than|at most|max(?:imum)?\.?(?: of)?|up to|under|less than) {_NUMBER} "
    rf"{_UNIT_OF_TEXT}|"
    rf"{_IN_FORM}\W*$|"
    r"bitte\b(?!.*[?])|antworte\b|fasse dich|nenne? (?:bitte )?(?:die |deine |ihre )?quellen|danke|réponds|"
    r"répondez|cite[sz]? (?:tes|vos|les) sources|merci|"
    r"responde|contesta|cita (?:las|tus) fuentes|gracias|ответь\w*|отвечай\w*|укажи\w* источник\w*|спасибо)"
    r"|(?:簡潔|簡単|短く|手短).*(?:答え|回答|説明)|(?:請|请).*(?:簡短|简短|简要|簡要|简洁)|(?:أجب|اجب)\b|संक्षेप में",
    re.IGNORECASE,
)
# What introduces a question that is told rather than asked: "I would like to know how …".
_LEAD = re.compile(
    r"^(?:(?:can|could|would|will) (?:you|anyone|anybody|someone|somebody) (?:please |kindly |maybe )?(?:tell|"
    r"inform|show|remind|advise)(?: me| us)?|"
    r"(?:please )?(?:tell|inform|remind) (?:me|us)|"
    r"(?:(?:and|but|so|now|also|then) )?(?:i|we)(?: (?:would|do|also|really|just|now|still)|['’]d)* ?(?:need|"
    r"want|like|love|wish|have|am trying|are trying|hope)"
    r" to (?:know|find out|learn|understand|ask(?: you)?|figure out|hear)|"
    r"(?:i|we)(?: (?:am|are|was|were|also|really|just)|['’]m)* (?:wonder|wondering|looking for|interested in)|"
    r"(?:do|does) (?:you|anyone|anybody|somebody|someone) (?:know|remember|have any idea)|any idea|"
    r"what (?:i|we) (?:need|want|would like) to know is|find out|look up|check)"
    r"(?: about| if| whether|[,:])?\s+",
    re.IGNORECASE,
)
_HANDED = re.compile(
    r"^(?:please )?(?:give|show|send|get|find|fetch) (?:me |us )?(?=(?:the|an?|all|some|any)\b)", re.IGNORECASE
)
_NEEDED = re.compile(
    r"^(?:(?:and|so|but) )?(?:i|we) (?:need|want|would like|am after|are after)\s+(?=the\b)", re.IGNORECASE
)
_ORDER = re.compile(
    r"^(?:please )?(?:compare|contrast|explain|describe|list|name|outline|summari[sz]e|define|find|give (?:me |"
    r"us )?|show (?:me |us )?|"
    r"calculate|identify|discuss|trace|state|vergleiche|erkläre|beschreibe|nenne|compare[zr]?|explique[zr]?|"
    r"décris|nomme[zr]?|"
    r"compara|explica|describe|сравни\w*|объясни\w*|назови\w*)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"^(?:(?:and|or|but|so|also|then) )*(?:{PREPOSITION}?{ASKING}|{INVERTED} (?!you (?:please|also|just)))",
    re.IGNORECASE,
)
# Words that ask in languages where a question may end in a full stop.
_ASKS_IN_EAST = re.compile(
    r"(?:か|かな|でしょうか|のか)[。.]?$|何[人年月日時]|誰|いくら|いくつ|なぜ[^な]|"
    r"[吗嗎呢][。.]?$|什么|什麼|多少|[谁誰]|哪[里年个些一]|为什么|為什麼|怎么|怎麼|是否|(?:^|\s)(?:متى|أين|كم|لماذا|كيف|هل)\s|"
    r"(?:कब|कहाँ|कौन|किसने|क्यों|कैसे|कितन[ाीे])"
)
# "When I was a child, …": a clause of time or place, where no question mark follows.
_TELLS = re.compile(
    r"^(?:when|where|while|what|who|which|how)(?:ever)? (?:i|we|my|our|he|she|they|you|the|a|an|it)\b",
    re.IGNORECASE,
)
# "I am writing on whales, so how long …": a clause of the asker's own affairs before what is asked.
_OWN_AFFAIRS = re.compile(
    r"^(?:(?:as|since|because|hi|hello|hey),? )?(?:i|we|my|our)\b(?:['’]\w+)?.{5,250}?[,;:–—-]\s+(?:and |so |but )?"
    rf"(?=(?:{PREPOSITION}?{ASKING}|{INVERTED} (?:the|an?|it|they|there|i|we|he|she|this|these)\b|(?:i|we) "
    rf"(?:need|want|would like) to know\b|"
    r"(?:can|could) (?:you|anyone) (?:please )?tell\b))",
    re.IGNORECASE,
)
_THEN_ASKS = re.compile(rf"[:,–—-]\s+(?={PREPOSITION}?{ASKING}|{INVERTED})", re.IGNORECASE)
_OWN_REASON = re.compile(
    rf",\s+(?:as |since |because |for )?(?:i|my|we|our)\b(?:['’]\w+)? (?!.*\b{ASKING}).*$", re.IGNORECASE
)
_SMALL_STOP = re.compile(r"(?<=[^\W\d_]{3}[.!])\s+(?=[^\W_])|(?<=\d[.])\s+(?=[^\W\d_])")
_ABBREVIATION = re.compile(
    r"\b(?:etc|mrs|approx|incl|prof|gen|vol|art|sec|dept|ave|inc|ltd|esp|fig|bzw|nr|rev|capt)\.$", re.IGNORECASE
)
_COUNT = re.compile(r"(?:(?<=\s)|^)[(\[]?(?P<count>\d{1,2}|[a-h])[.)\]]\s+(?=\S)")
_ORDINAL = re.compile(
    r"^(?P<word>first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|then|next|finally|lastly|"
    r"[-*•–])\s*(?P<sign>[:,]|(?<=[-*•–]))\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Framed:
    """A text that asks, taken apart."""

    asks: tuple[str, ...]
    """Sentences and items of a list that ask something, without what introduces them and instructions in them."""
    setting: tuple[str, ...]
    """Sentences that tell why or in which setting it is asked."""
    before: tuple[tuple[str, ...], ...] = ()
    """Of each that asks, what of the setting stands between it and the one before; the last ones are the first's."""


@lru_cache(maxsize=256)
def unframe(text: str) -> Framed:
    """Return what a text asks, and what it tells beside.

    Where no sentence has the form of a question, everything but instructions on the form is asked: keywords are.
    """
    lead_in, items = _items(text)
    if len(items) > 1:
        before = _sorted_sentences(lead_in)
        asked = [_sorted_sentences(item).asks for item in items]
        asks = [" ".join(each).strip(" ,;") for each in asked if each]
        setting = (*before.asks, *before.setting)
        return Framed(tuple(asks), setting, (setting, *((),) * (len(asks) - 1))) if asks else before
    return _sorted_sentences(text)


def asked_text(text: str) -> str:
    """Return what a text asks, without what stands around it; the text itself where that is all of it."""
    asks, setting = unframe(text).asks, unframe(text).setting
    joined = " ".join(asks)
    return joined if setting or len(joined.split()) + 1 < len(text.split()) else text


def _items(text: str) -> tuple[str, list[str]]:
    """Return the text before a counted list ("1) … 2) …", "a) … b) …") and its items; no items where there is
    none."""
    marks: list[re.Match[str]] = []
    for mark in _COUNT.finditer(text):
        count = mark["count"]
        follows = str(len(marks) + 1) if count.isdecimal() else "abcdefgh"[min(len(marks), 7)]
        if count == follows and (not marks or marks[0]["count"].isdecimal() is count.isdecimal()):
            marks.append(mark)
    if len(marks) < 2:
        return text, []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return text[: marks[0].start()], [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]


def _sorted_sentences(text: str) -> Framed:
    asks: list[str] = []
    settings: list[list[str]] = [[]]  # what stands before each that asks, and behind the last
    for sentence in _sentences(text):
        counted = False
        if mark := _ORDINAL.match(sentence):
            sentence = sentence[mark.end() :]
            counted = mark["sign"] != "," and bool(sentence)
        if _ON_THE_FORM.search(sentence):
            _, *after = _THEN_ASKS.split(sentence, maxsplit=1)
            if not after or not _is_question(after[0], told=False):
                continue
            sentence = after[0]
        # Greetings and instructions on the form go from both ends.
        plain = _ENDING.sub("", _BEGINNING.sub("", sentence.strip())).strip()
        if own := _OWN_AFFAIRS.match(plain):
            settings[-1].append(own[0].rstrip(" ,;:–—-"))
            plain = _BEGINNING.sub("", plain[own.end() :])
        if (reason := _OWN_REASON.search(plain)) and _ASKS.match(plain):
            settings[-1].append(reason[0].strip(" ,"))
            plain = plain[: reason.start()]
        if not plain:
            continue
        told = _LEAD.match(plain) or _NEEDED.match(plain) or _HANDED.match(plain)
        bare = plain[told.end() :] if told else plain
        # "If so, from when …" asks nothing without the sentence before it.
        goes_on = bare.lower().startswith(("if so", "if not", "if yes", "and if"))
        if asks and (goes_on or _NEEDED.match(plain)):
            asks[-1] = f"{asks[-1]} {bare}"
        elif counted or _is_question(bare, told=bool(told)) or _ORDER.match(bare):
            asks.append(bare)
            settings.append([])
        else:
            settings[-1].append(bare)
    setting = tuple(sentence for own in settings for sentence in own)
    if asks:
        settings[0] += settings.pop()
        return Framed(tuple(asks), setting, tuple(map(tuple, settings)))
    whole = " ".join(setting)
    return Framed((whole,) if whole else (text.strip() or text,), (), ((),))


def _is_question(sentence: str, *, told: bool) -> bool:
    if sentence.rstrip(' )"”’»').endswith(tuple(QUESTION_MARK)):
        return True
    if _ASKS_IN_EAST.search(sentence):
        return True
    return told or (bool(_ASKS.match(sentence)) and not _TELLS.match(sentence))


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    has_capitals = any(map(str.isupper, text)) and not text.isupper()
    for line in re.split(r"\n+", text):
        for start, end in sentences(line):
            parts = re.split(
                rf"(?<=[{QUESTION_MARK}])\s+|(?<=[？。！])|;\s+(?={PREPOSITION}?{ASKING})",
                line[start:end],
                flags=re.IGNORECASE,
            )
            if has_capitals:
                found += parts
                continue
            # No capital confirms the full stops.
            for part in parts:
                small: list[str] = []
                for each in _SMALL_STOP.split(part):
                    if small and _ABBREVIATION.search(small[-1]):
                        small[-1] = f"{small[-1]} {each}"
                    else:
                        small.append(each)
                found += small
    return [sentence.strip() for sentence in found if sentence.strip()]
