"""Analyse a question by rule: the clauses that ask, the names in it, the words that say little, a query of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from marchwarden.evidence.asking.antecedents import OWN, left_out, named_in
from marchwarden.evidence.asking.completeness import BACKWARD, is_about_another, is_backward, is_pointing
from marchwarden.evidence.asking.coordination import asked_apart
from marchwarden.evidence.asking.corrections import as_follow_up
from marchwarden.evidence.asking.respelling import with_small_words_spelt
from marchwarden.evidence.asking.telling_words import (
    JOINS,
    OPENING,
    VAGUE_TERMS,
    capitals_tell,
    has_name,
    in_small_letters,
    name_runs,
    names_in,
    words_of,
)
from marchwarden.evidence.framing import ASKING, FOREIGN_ASKING, INVERTED, PREPOSITION, asked_text, unframe
from marchwarden.text.countries import PLACES
from marchwarden.text.ranking import guess_language, terms
from marchwarden.text.stop_words import is_stop_word
from marchwarden.text.turns import turns_in, without_turns

# Characters of a query, at most: the limit of Tavily's API.
QUERY_LIMIT = 400
# Aspects of one question, at most. A guess.
MOST_ASPECTS = 6

_NEW_CLAUSE = re.compile(
    # "and" or a new sentence, then anything that asks
    rf"(?:[;?]\s+(?:and\s+)?|,?\s+and\s+(?:also\s+)?|,\s+but\s+)(?={PREPOSITION}?(?:{ASKING}|{INVERTED}))"
    rf"|,?\s+(?:und|et|y|и)\s+(?={FOREIGN_ASKING})"
    # a comma alone: what can't be a relative clause
    rf"|,\s+(?={PREPOSITION}(?:what|which)\b|(?:how|what|why)\b|(?:who|when|where) {INVERTED}"
    rf"|{INVERTED} (?:the|a|an|its?|they|their|this|these|there)\b)",
    re.IGNORECASE,
)
# Text before the first thing asked that holds for all of them: "Under the GDPR, …", "A talk on La Paz: …".
_INTRODUCTION = re.compile(
    rf"^(?!{PREPOSITION}?{ASKING})"
    rf"(?:(?P<frame>(?:{PREPOSITION}|among |according to |based on |as per |following )[^,?:]{{3,80}}),|"
    rf"(?P<preface>[^?:]{{3,120}}):)\s+"
    rf"(?={PREPOSITION}?(?:{ASKING}|{INVERTED}))",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r"\s(?P<joint>or|vs\.?|versus)\s", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:compare|contrast|differences? between|comparison (?:of|between))\b.+?\s(?P<joint>and|with|to|against)\s",
    re.IGNORECASE,
)
_MOST_WORDS_OF_A_SIDE = 3
_FOCUS = re.compile(
    r"(?:focus(?:ing)? on|(?:especially |particularly |mainly )interested in|concentrate on|need to know|want "
    # What callers look for beside what they ask ("I'm looking for a new laptop") is their own affair.
    r"to know|tell me about|(?:interested in|looking for)(?= (?:the|its|their|how|what|which|whether|when|why)\b))"
    r"\s+([^.;!?]+)",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(r"^(?:and|but|also|so|then|or) (?:also )?", re.IGNORECASE)
# "Who makes it" says what it asks, though all its words are vague.
_ASKS_ALONE = re.compile(
    r"(?:who|when|where) (?!(?:is|are|was|were) \w+\W*$).*\b(?:it|they|them|he|him|she|her|this|that)\b",
    re.IGNORECASE,
)
_BARE = re.compile(rf"{PREPOSITION}?{ASKING}(?: \w+)?", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:about|on|regarding|concerning|into|of)\s+([^.;,:]+)", re.IGNORECASE)
# Words of an errand ("I am preparing a lesson"), which say nothing about what is asked.
_ERRAND = frozenset(
    terms(
        "am are writing write preparing prepare need want looking working work reading learning planning trying "
        "doing lesson class "
        "school essay article report homework quiz question talk presentation project hand-out fact source "
        "solid book blog thesis"
    )
)
_MOST_LENT_WORDS = 4
# Words of a clause that tells little, and of what askers say of themselves in short, at most. Guesses.
_MOST_WORDS_OF_A_SHORT_CLAUSE, _MOST_WORDS_OF_A_CIRCUMSTANCE = 4, 14
_CIRCUMSTANCE = re.compile(
    r"^(?:.{0,40}?\b)??(?:(?:i|we)(?: (?:am|have|had|run|own|keep|grow|use|take|drive|got|build)\b|['’](?:m|ve)\b)|"
    r"(?:my|our)\b(?=(?: [\w-]+){1,3} (?:is|are|has|have|was|were|takes?|gets?|keeps?)\b))(?P<told>.+)",
    re.IGNORECASE,
)
_AGE = re.compile(r"(?:\bis|\bam|['’]m|^) (\d{1,3})\b(?=\W*$|,| and\b| years?\b)", re.IGNORECASE)
# What it says of the asker, their people, and how they came to ask.
_OF_THE_ASKER = re.compile(
    r"\W*\d.*|told|asked|said|heard|hearing|read|bought|booked|moved|live[ds]?|go(?:es|ing)|gone|been|found|feel\w*|"
    r"look\w*|want\w*|need\w*|put\w*|consider\w*|keep\w*|mind|like|own|just|right|now|still|often|together|"
    r"new|old|first|years?|anymore|hardly|always|never|everything|without|friends?|boss|teacher|doctor|husband|wife|"
    r"partner|sons?|daughters?|mother|father|mum|mom|dad|grand\w+|sister|brother|neighbou?rs?|family|myself",
    re.IGNORECASE,
)
_THING = re.compile(r"\b(?:it|its|they|them|their|these|those)\b", re.IGNORECASE)
_MOST_WORDS_OF_A_THING = 2
_MOST_TOPIC_WORDS = 12


def split_question(question: str, context: str | None = None) -> list[str]:
    """Split a question into aspects: its clauses that ask something of their own.

    What only sets the scene or tells the form of the answer is none. A clause that depends on the first ("and who
    founded it?", "and how high are the fines?") gets the names of the first, so that it can be searched for alone.
    Where the first has no names, the clause is joined to the one before it. Names in an introduction are added to
    every clause without a name. What the first clause leaves open is looked for in the setting, then in the context,
    where the last turn of a conversation decides.
    """
    question = with_small_words_spelt(as_follow_up(question) if turns_in(context) else question)
    framed = unframe(question)
    clauses: list[str] = []
    lent: list[str] = []
    told_apart: set[int] = set()
    asks = list(framed.asks)
    if len(asks) == len(framed.setting) == 1:
        # The question may begin with a title: a topic without a verb.
        title = framed.setting[0]
        is_sentence = re.search(rf"\b(?:{INVERTED}|be|been|it|they|he|she|this|that)\b", title, re.IGNORECASE)
        if question.lstrip().startswith(title) and not is_sentence and _is_topic(title):
            asks = [f"{title.rstrip(' .')}: {asks[0]}"]
    for ask, setting in zip(asks, framed.before, strict=True):
        if clauses and not setting:
            named: list[str] = lent
        elif _INTRODUCTION.match(ask):
            named = []
        elif clauses:
            named = _lent_names(_divided(ask)[0], setting)
        else:
            divided = _divided(ask)
            named = lent = _lent_names(divided[0], setting) or left_out(
                ask if len(divided) == 1 else divided[0], context
            )
        begun = len(clauses)
        common = _add_clauses(_CONJUNCTION.sub("", in_small_letters(ask)), clauses, named, is_apart=bool(setting))
        if len(clauses) > begun and named is not lent:
            clauses[begun] = _with(clauses[begun], named)
        # A clause that is told what it is about is not about the first one's names, too.
        told_apart.update(range(begun, len(clauses)) if common else [begun] if named is not lent and named else [])
    clauses = clauses[:MOST_ASPECTS] or [question]
    clauses[0] = _with(clauses[0], lent)
    names = subject_of(clauses[0])
    found = clauses[:1] + [
        clause if place in told_apart else with_names([clause], names)[0]
        for place, clause in enumerate(clauses[1:], start=1)
    ]
    apart = [each for clause in found for each in asked_apart(clause)]
    return apart if len(apart) <= MOST_ASPECTS else found


def standalone(question: str, context: str | None) -> str:
    """Return what a question asks; with the words that it leaves out, where it goes on with a conversation."""
    return "; ".join(split_question(question, context)) if turns_in(context) else asked_text(question)


def _lent_names(clause: str, setting: Sequence[str]) -> list[str]:
    """Return the words of the name without which a clause can't be understood, where its setting tells one."""
    telling = set(terms(clause)) - VAGUE_TERMS
    if is_pointing(clause) or (not has_name(clause) and len(telling) < 3):
        if named := named_in(setting, clause):
            return [*_thing_meant(clause, setting, named), *named]
        if told := _circumstances(clause, setting):
            return told
        # The telling words of what a setting without names is about.
        if is_backward(clause):
            subjects = [match[1] for text in setting for match in _SUBJECT.finditer(text)]
            if words := _topic_words(subjects)[:_MOST_LENT_WORDS]:
                return words
        return _topic_words(text for text in setting if _is_topic(text))
    if has_name(clause):
        return []
    if told := _circumstances(clause, setting):
        return told
    return named_in(setting, clause, also_places=needs_names(clause, least_words=5))


def _circumstances(clause: str, setting: Sequence[str]) -> list[str]:
    """Return the words of what askers say in short of themselves or theirs, where the clause says little by itself.

    "My daughter has coeliac disease. Can she eat sourdough bread?"
    """
    if len(set(terms(clause)) - VAGUE_TERMS) > _MOST_WORDS_OF_A_SHORT_CLAUSE:
        return []
    short = (text for text in setting if len(text.split()) <= _MOST_WORDS_OF_A_CIRCUMSTANCE)
    told = [match["told"] for match in map(_CIRCUMSTANCE.match, short) if match]
    ages = [f"{match[1]} years" for match in map(_AGE.search, told) if match]
    words = [word for word in _topic_words(told) if not _OF_THE_ASKER.fullmatch(word)]
    return [*ages, *words][:_MOST_LENT_WORDS]


def _thing_meant(clause: str, setting: Sequence[str], named: Sequence[str]) -> list[str]:
    """Return the words of the thing that "it" or "them" stands for, where the setting names nothing but places.

    "I live in Berlin and bought an e-bike. Can I ride it on paths?"
    """
    if not _THING.search(clause) or not all(run.placed for text in setting for run in name_runs(text)):
        return []
    return [word for word in _topic_words(setting) if word not in named][-_MOST_WORDS_OF_A_THING:]


def _add_clauses(ask: str, clauses: list[str], lent: list[str], *, is_apart: bool) -> list[str]:
    """Add the clauses of one sentence, and return the words that its beginning gives to each of them.

    `lent` are the names that the first of all clauses needs; `is_apart`: a sentence stands between this one and the
    clauses before, so that it does not go on with them.
    """
    introduction = _INTRODUCTION.match(ask)
    asked = ask[introduction.end() :] if introduction else ask
    frame, preface = (introduction["frame"], introduction["preface"]) if introduction else (None, None)
    divided = _divided(asked)
    # What stands before the only question is what it is about, whatever it names itself.
    is_about = len(divided) == 1 and preface is not None and _is_topic(preface)
    named = [] if is_about else subject_of(frame or preface or "")
    common = named or _topic_words([preface or ""])
    begun = len(clauses)
    for clause in divided:
        # "And why?", or "and what does it report?" after a clause without a name, can't be searched for alone.
        own = set(terms(clause)) - VAGUE_TERMS
        first = clauses[0] if clauses else ""
        names = lent or subject_of(first)
        is_named = any(not name.isdigit() and name.casefold() not in PLACES for name in names)
        is_vague = not (own or (is_named and _ASKS_ALONE.match(clause))) or (
            len(own) < 4 and is_backward(clause) and not names
        )
        if clauses and is_vague and not common and not (is_apart and len(clauses) == begun):
            clauses[-1] = f"{clauses[-1]}, {clause}"
        elif clause:
            clauses.append(clause)
    if frame and len(clauses) > begun:
        clauses[begun] = f"{frame}, {clauses[begun]}"
    if common:
        clauses[begun:] = [
            _with(clause, common if is_about or not has_name(clause) else []) for clause in clauses[begun:]
        ]
    return common


def _divided(asked: str) -> list[str]:
    """Return the clauses that ask; "when and where was …" stays one."""
    found: list[str] = []
    begin, alone, joined = 0, False, False
    for cut in [*_NEW_CLAUSE.finditer(asked), None]:
        clause = asked[begin : cut.start() if cut else None].strip(" ?,;？؟。")
        clause = re.sub(r"(?<=[^\W\d_]{2})[.!]+$", "", clause)
        if alone and found:
            found[-1] = f"{found[-1]} and {clause}"
        else:
            found.append(clause)
        begin = cut.end() if cut else len(asked)
        # An asking word at the start, or after a comma, and then "and": it asks about what follows.
        before, joined = joined, bool(cut and cut[0].strip().lower() == "and")
        alone = joined and not before and bool(_BARE.fullmatch(clause))
    return found


def with_names(clauses: list[str], names: list[str]) -> list[str]:
    """Add the names to each clause that can't be understood alone."""
    return [_with(clause, names if needs_names(clause) else []) for clause in clauses]


def needs_names(clause: str, least_words: int = 3) -> bool:
    """Return whether a clause can't be understood alone.

    It says "it", or has no name and says "that", or has no name and fewer than `least_words` telling words.
    """
    if has_name(clause):
        return is_about_another(clause)
    return is_backward(clause) or len(set(terms(clause)) - VAGUE_TERMS) < least_words


def _with(clause: str, names: list[str]) -> str:
    held = set(terms(clause))
    said = clause.split()
    missing = [name for name in names if name not in said and not (held and set(terms(name)) & held)]
    return f"{clause} ({' '.join(missing)})" if missing else clause


def subject_of(text: str) -> list[str]:
    """Return the names in a text; where its capitals tell none, its telling words."""
    names = names_in(text)
    if capitals_tell(text):
        return names
    language = guess_language(text)
    telling = [
        word
        for word in words_of(text)
        if set(terms(word, language)) - VAGUE_TERMS
        and not OPENING.fullmatch(word)
        and not re.fullmatch(FOREIGN_ASKING, word, re.IGNORECASE)
    ]
    return [word for word in telling if word not in names][:_MOST_LENT_WORDS] + names


def _topic_words(texts: Iterable[str]) -> list[str]:
    """Return the words of texts that tell what they are about."""
    words = [word.strip(".") for word in words_of(" ".join(texts)) if word.casefold() not in JOINS]
    return [word for word in words if set(terms(word)) - VAGUE_TERMS - _ERRAND][:_MOST_TOPIC_WORDS]


def _is_topic(text: str) -> bool:
    """Return whether a text before a question tells its topic, and hardly anything of the asker or an errand."""
    said = set(terms(text)) - VAGUE_TERMS
    return not OWN.search(text) and 3 * len(said & _ERRAND) < len(said)


def sides_of(question: str) -> list[str]:
    """Return what is asked about each side of a comparison alone ("A or B", "A vs B", "compare A and B").

    Empty where nothing is compared.
    """
    for ask in unframe(question).asks:
        joint = _ALTERNATIVE.search(ask) or _COMPARED.search(ask)
        if joint is None:
            continue
        begin, end = joint.span("joint")
        words = [*re.finditer(r"[^\s,;:()?!]+|[,;:()?!]", ask)]
        left = _side([word for word in reversed(words) if word.end() <= begin], most=_MOST_WORDS_OF_A_SIDE)
        right = _side([word for word in words if word.start() >= end], most=max(1, len(left)))
        following = ask[end:].split()[0].casefold() if ask[end:].strip() else ""
        if left and right and following not in ("not", "both", "so", "more", "less", "any", "fewer"):
            at, until = left[-1].start(), right[-1].end()
            return [f"{ask[:begin].rstrip()}{ask[until:]}", f"{ask[:at]}{ask[right[0].start() :]}"]
    return []


def _side(words: Sequence[re.Match[str]], most: int) -> list[re.Match[str]]:
    """Return the words of one thing that is compared, those next to the joint first."""
    found: list[re.Match[str]] = []
    for word in words:
        if not word[0][0].isalnum() or is_stop_word(word[0], "en"):
            if found or not word[0][0].isalnum():
                break
            continue
        if found and len(found) >= most and not word[0][0].isupper():
            break
        if found and found[-1][0][0].isupper() and not word[0][0].isupper():
            break
        found.append(word)
    return found


def as_query(text: str) -> str:
    """Return a text as a query of at most 400 characters, cut between words."""
    text = " ".join(text.split())
    return text if len(text) <= QUERY_LIMIT else text[: QUERY_LIMIT + 1].rsplit(" ", 1)[0][:QUERY_LIMIT]


def own_words(context: str | None) -> set[str]:
    """Return the terms of the sentences of a context in which its author speaks of themselves."""
    said = without_turns(context)
    told = [sentence for sentence in re.split(r"(?<=[.!?;])\s+", said) if OWN.search(sentence)]
    return set(terms(" ".join(told))) - VAGUE_TERMS


def focuses(context: str | None, question: str) -> list[str]:
    """Return the aspects that the caller's context asks to focus on, each with the question's names if it needs
    them. What it says of the caller is left out."""
    found = [match for match in _FOCUS.findall(without_turns(context)) if not OWN.search(match)]
    focused = [BACKWARD.sub("", match).strip() for match in found]
    return with_names([focus for focus in focused if terms(focus)], subject_of(question))
